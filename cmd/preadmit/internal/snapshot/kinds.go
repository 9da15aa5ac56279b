package snapshot

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// DefaultKinds returns the kinds that are read by default: those that decide about requests.
// The kinds of params are added when the policies are known.
func DefaultKinds() []schema.GroupKind {
	const admission, rbac = "admissionregistration.k8s.io", "rbac.authorization.k8s.io"
	return []schema.GroupKind{
		{Kind: "Namespace"}, {Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"},
		{Group: admission, Kind: "ValidatingAdmissionPolicy"}, {Group: admission, Kind: "ValidatingAdmissionPolicyBinding"},
		{Group: admission, Kind: "MutatingAdmissionPolicy"}, {Group: admission, Kind: "MutatingAdmissionPolicyBinding"},
		{Group: rbac, Kind: "ClusterRole"}, {Group: rbac, Kind: "ClusterRoleBinding"}, {Group: rbac, Kind: "Role"}, {Group: rbac, Kind: "RoleBinding"},
		{Group: "storage.k8s.io", Kind: "StorageClass"}, {Group: "networking.k8s.io", Kind: "IngressClass"},
		{Group: "scheduling.k8s.io", Kind: "PriorityClass"}, {Group: "node.k8s.io", Kind: "RuntimeClass"},
		{Kind: "LimitRange"}, {Kind: "ServiceAccount"},
	}
}

// kindName returns a kind as KIND or KIND.GROUP.
func kindName(kind schema.GroupKind) string {
	if kind.Group == "" {
		return kind.Kind
	}
	return kind.Kind + "." + kind.Group
}

// served is a kind that the server serves.
type served struct {
	schema.GroupVersionKind
	plural string
}

// path returns the path of the list of its objects.
func (s served) path() string {
	if s.Group == "" {
		return "/api/" + s.Version + "/" + s.plural
	}
	return "/apis/" + s.Group + "/" + s.Version + "/" + s.plural
}

// kindsOf returns the kinds of a server's lists of resources that can be listed.
func kindsOf(lists []*metav1.APIResourceList) ([]served, error) {
	var all []served
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, r := range list.APIResources {
			if !strings.Contains(r.Name, "/") && slices.Contains(r.Verbs, "list") {
				all = append(all, served{gv.WithKind(r.Kind), r.Name})
			}
		}
	}
	return all, nil
}

// findKind returns the kind with a name: KIND, KIND.GROUP or a plural.
func findKind(all []served, name string) (served, error) {
	var found []served
	for _, s := range all {
		short, group, _ := strings.Cut(name, ".")
		if (strings.EqualFold(short, s.Kind) || strings.EqualFold(short, s.plural)) && (group == s.Group || group == "" && !strings.Contains(name, ".")) {
			found = append(found, s)
		}
	}
	core := slices.IndexFunc(found, func(s served) bool { return s.Group == "" })
	switch {
	case len(found) == 0:
		return served{}, fmt.Errorf("the server has no kind %q that can be listed", name)
	case core >= 0:
		return found[core], nil
	case len(found) > 1:
		return served{}, fmt.Errorf("%q is %s and %s: write KIND.GROUP", name, kindName(found[0].GroupKind()), kindName(found[1].GroupKind()))
	}
	return found[0], nil
}
