package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	api "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/plugin/pkg/admission/serviceaccount"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission/builtin"
	"github.com/preadmit/preadmit/scanner/admission/names"
	"github.com/preadmit/preadmit/scanner/admission/unknown"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// tokenPlugin is the ServiceAccount plugin. In place of a random name, the volume of the token gets
// one that is derived from the Pod.
type tokenPlugin struct {
	admission.MutationInterface
	cluster *Cluster
}

// Admit implements admission.MutationInterface.
func (t tokenPlugin) Admit(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	pod, ok := a.GetObject().(*api.Pod)
	if !ok || !t.cluster.hasAccounts(a.GetNamespace()) {
		return nil
	}
	had := names.HasToken(pod)
	err := t.MutationInterface.Admit(ctx, a, o)
	if !had {
		names.Token(pod, a.GetNamespace())
	}
	return err
}

// hasAccounts reports whether Pods of a namespace have accounts, as in every cluster whose
// controllers run. A state that has all objects (of a recorded suite) but no account in the namespace
// is that of a server without the plugin, which would refuse every Pod.
func (c *Cluster) hasAccounts(namespace string) bool {
	return !c.opts.Known.HasAll() || slices.ContainsFunc(c.list(kinds.ServiceAccount), func(o *Object) bool { return c.namespace(o) == namespace })
}

// accountUnknown returns an error if it is not known whether the account of a Pod exists, without
// which the server refuses the Pod. Pods of controllers are exempt: a controller retries until it
// exists.
func (p *preparation) accountUnknown(obj runtime.Object) error {
	pod, ok := obj.(*api.Pod)
	if !ok || p.client.GeneratedName || p.client.Subresource != "" {
		return nil
	}
	name, resource := pod.Spec.ServiceAccountName, accountResource()
	if name == "" || name == serviceaccount.DefaultServiceAccountName || p.cluster.Find(resource, p.namespace, name) != nil ||
		p.cluster.Lacks(resource, p.namespace, func(o *Object) bool { return o.Name() == name }) {
		return nil
	}
	field := render.Unknown{Path: []string{"spec", "serviceAccountName"}, Reason: fmt.Sprintf("ServiceAccount %q is not in the repository", name)}
	for _, f := range p.unknown.object {
		if unknown.At([]string{"spec", "serviceAccountName"}, []render.Unknown{f}) || unknown.At([]string{"spec", "serviceAccount"}, []render.Unknown{f}) {
			field = f
		}
	}
	return &unknown.Error{What: "whether the server takes the Pod", Fields: []render.Unknown{field}}
}

func accountResource() Resource {
	r, _ := builtin.Of(kinds.ServiceAccount.WithVersion("v1"))
	return r
}

// accounts is a client of ServiceAccounts that the state does not have.
type accounts struct {
	corev1client.ServiceAccountInterface
	cluster   *Cluster
	namespace string
}

// ServiceAccounts implements corev1client.CoreV1Interface.
func (c coreClient) ServiceAccounts(namespace string) corev1client.ServiceAccountInterface {
	return accounts{cluster: c.cluster, namespace: namespace}
}

// Get returns the account without changes by anybody: default, which controllers create in every
// namespace, and others, of which nothing is known.
func (a accounts) Get(_ context.Context, name string, _ metav1.GetOptions) (*corev1.ServiceAccount, error) {
	own := name == serviceaccount.DefaultServiceAccountName
	lacks := a.cluster.Lacks(accountResource(), a.namespace, func(o *Object) bool { return o.Name() == name })
	switch {
	case lacks && !own:
		return nil, apierrors.NewNotFound(corev1.Resource("serviceaccount"), name)
	case lacks && a.cluster.opts.Known.HasAll(): // for a NotFound, the plugin would wait and retry
		return nil, errors.New(apierrors.NewNotFound(corev1.Resource("serviceaccount"), name).Error())
	}
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: name}}, nil
}
