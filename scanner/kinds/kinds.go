package kinds

import (
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Groups of the kinds in the table.
const (
	GroupAdmission  = "admissionregistration.k8s.io"
	GroupExtensions = "apiextensions.k8s.io"
	GroupRBAC       = "rbac.authorization.k8s.io"
)

// Kinds that the code names.
var (
	Policy  = schema.GroupKind{Group: GroupAdmission, Kind: "ValidatingAdmissionPolicy"}
	Binding = schema.GroupKind{Group: GroupAdmission, Kind: "ValidatingAdmissionPolicyBinding"}
	// Mutation and MutationBinding are the kinds of mutating policies and their bindings.
	Mutation        = schema.GroupKind{Group: GroupAdmission, Kind: "MutatingAdmissionPolicy"}
	MutationBinding = schema.GroupKind{Group: GroupAdmission, Kind: "MutatingAdmissionPolicyBinding"}
	Namespace       = schema.GroupKind{Kind: "Namespace"}
	// ServiceAccount is the account of a Pod.
	ServiceAccount = schema.GroupKind{Kind: "ServiceAccount"}
	Definition     = schema.GroupKind{Group: GroupExtensions, Kind: "CustomResourceDefinition"}
	// HelmRelease is the kind for which Flux's helm-controller installs a chart.
	HelmRelease = schema.GroupKind{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease"}
)

// Effect is the effect of objects of a kind on requests about other objects.
type Effect int

const (
	// None means that there is no known effect.
	None Effect = iota
	// Judges is the effect of a policy or a binding: they allow and deny requests, or change their
	// objects.
	Judges
	// Contains is the effect of a Namespace: policies read its labels and annotations.
	Contains
	// Defines is the effect of a CustomResourceDefinition: it defines the kind of others.
	Defines
	// Authorizes is the effect of RBAC objects: policies can check rights.
	Authorizes
	// Completes means that admission plugins look up the object to complete others, or to refuse
	// them.
	Completes
	// NotSimulated means that an API server changes or refuses requests because of the object, which
	// verdicts do not include.
	NotSimulated
)

// Kind is a row of the table.
type Kind struct {
	// GroupKind is the kind. A row without a Kind is for all kinds of the group that have no row of
	// their own.
	schema.GroupKind
	Effect Effect
	// Governs is set when roots may have different versions of an object, which are kept apart, and
	// other objects are judged again if one changes.
	Governs bool
	// Version is the API version in which admission plugins read the kind.
	Version string
	// NeededBy describes the objects for which an API server looks up objects of the kind.
	NeededBy Need
}

// Need describes objects by their contents. It describes an object that matches one of Fields or
// Kinds.
type Need struct {
	// Fields are names of fields, at any depth.
	Fields []string
	// Kinds are kinds, of any group.
	Kinds []string
	// InNamespace is set when only objects in the same namespace are looked up.
	InNamespace bool
}

// Of returns the row of a kind. A kind that is not in the table has Effect None.
func Of(kind schema.GroupKind) Kind {
	for _, k := range table {
		if k.Group == kind.Group && (k.Kind == kind.Kind || k.Kind == "") {
			return k
		}
	}
	return Kind{GroupKind: kind}
}

// With returns the rows with an effect, in the order of the table.
func With(effect Effect) iter.Seq[Kind] {
	return func(yield func(Kind) bool) {
		for _, k := range table {
			if k.Effect == effect && !yield(k) {
				return
			}
		}
	}
}

// IsPolicy reports whether a kind is that of validating or mutating policies or bindings.
func IsPolicy(kind schema.GroupKind) bool {
	return kind == Policy || kind == Binding || IsMutation(kind)
}

// IsBinding reports whether a kind is that of bindings.
func IsBinding(kind schema.GroupKind) bool { return kind == Binding || kind == MutationBinding }

// BoundBy returns the kind of the policies that bindings of a kind bind.
func BoundBy(binding schema.GroupKind) schema.GroupKind {
	if binding == MutationBinding {
		return Mutation
	}
	return Policy
}

// Describes reports whether n describes an object of a kind. has reports whether the object has a
// field of a name, at any depth.
func (n Need) Describes(kind string, has func(field string) bool) bool {
	return slices.Contains(n.Kinds, kind) || slices.ContainsFunc(n.Fields, has)
}

// IsMutation reports whether a kind is that of mutating policies or their bindings.
func IsMutation(kind schema.GroupKind) bool { return kind == Mutation || kind == MutationBinding }
