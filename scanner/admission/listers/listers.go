// Package listers sorts the lists of admission plugins. Of several LimitRanges of a namespace the
// LimitRanger uses the defaults of the first, and of several default PriorityClasses of equal value
// the Priority plugin uses the first. A server lists them in random order; here they are sorted by
// name.
package listers

import (
	"cmp"
	"slices"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/core"
	corev1informers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/informers/scheduling"
	schedulingv1informers "k8s.io/client-go/informers/scheduling/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
	schedulingv1listers "k8s.io/client-go/listers/scheduling/v1"
	schedulingapi "k8s.io/kubernetes/pkg/apis/scheduling/v1"
)

// Ordered returns a factory whose listers of LimitRanges and PriorityClasses sort by name.
func Ordered(factory informers.SharedInformerFactory) informers.SharedInformerFactory {
	return orderedFactory{factory}
}

type orderedFactory struct {
	informers.SharedInformerFactory
}

// Core implements informers.SharedInformerFactory.
func (f orderedFactory) Core() core.Interface { return orderedCore{f.SharedInformerFactory.Core()} }

// Scheduling implements informers.SharedInformerFactory.
func (f orderedFactory) Scheduling() scheduling.Interface {
	return orderedScheduling{f.SharedInformerFactory.Scheduling()}
}

type orderedScheduling struct{ scheduling.Interface }

// V1 implements scheduling.Interface.
func (s orderedScheduling) V1() schedulingv1informers.Interface {
	return orderedSchedulingV1{s.Interface.V1()}
}

type orderedSchedulingV1 struct {
	schedulingv1informers.Interface
}

// PriorityClasses implements schedulingv1informers.Interface.
func (i orderedSchedulingV1) PriorityClasses() schedulingv1informers.PriorityClassInformer {
	return orderedClasses{i.Interface.PriorityClasses()}
}

type orderedClasses struct {
	schedulingv1informers.PriorityClassInformer
}

// Lister implements schedulingv1informers.PriorityClassInformer.
func (i orderedClasses) Lister() schedulingv1listers.PriorityClassLister {
	return classLister{i.PriorityClassInformer.Lister()}
}

type classLister struct {
	schedulingv1listers.PriorityClassLister
}

// List implements schedulingv1listers.PriorityClassLister.
func (l classLister) List(selector labels.Selector) ([]*schedulingv1.PriorityClass, error) {
	list, err := l.PriorityClassLister.List(selector)
	slices.SortFunc(list, func(a, b *schedulingv1.PriorityClass) int { return cmp.Compare(a.Name, b.Name) })
	return list, err
}

type orderedCore struct{ core.Interface }

// V1 implements core.Interface.
func (c orderedCore) V1() corev1informers.Interface { return orderedV1{c.Interface.V1()} }

type orderedV1 struct{ corev1informers.Interface }

// LimitRanges implements corev1informers.Interface.
func (i orderedV1) LimitRanges() corev1informers.LimitRangeInformer {
	return orderedInformer{i.Interface.LimitRanges()}
}

type orderedInformer struct {
	corev1informers.LimitRangeInformer
}

// Lister implements corev1informers.LimitRangeInformer.
func (i orderedInformer) Lister() corev1listers.LimitRangeLister {
	return limitLister{i.LimitRangeInformer.Lister()}
}

type limitLister struct{ corev1listers.LimitRangeLister }

// LimitRanges implements corev1listers.LimitRangeLister.
func (l limitLister) LimitRanges(namespace string) corev1listers.LimitRangeNamespaceLister {
	return limitListerOf{l.LimitRangeLister.LimitRanges(namespace)}
}

type limitListerOf struct {
	corev1listers.LimitRangeNamespaceLister
}

// List implements corev1listers.LimitRangeNamespaceLister.
func (l limitListerOf) List(selector labels.Selector) ([]*v1.LimitRange, error) {
	list, err := l.LimitRangeNamespaceLister.List(selector)
	slices.SortFunc(list, func(a, b *v1.LimitRange) int { return cmp.Compare(a.Name, b.Name) })
	return list, err
}

// SystemPriorityClasses returns the PriorityClasses that every kube-apiserver creates at start.
func SystemPriorityClasses() []runtime.Object {
	var all []runtime.Object
	for _, class := range schedulingapi.SystemPriorityClasses() {
		class = class.DeepCopy()
		schedulingapi.SetObjectDefaults_PriorityClass(class)
		all = append(all, class)
	}
	return all
}
