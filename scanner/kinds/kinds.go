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

// Kinds that have a meaning of their own in the code.
var (
	Policy  = schema.GroupKind{Group: GroupAdmission, Kind: "ValidatingAdmissionPolicy"}
	Binding = schema.GroupKind{Group: GroupAdmission, Kind: "ValidatingAdmissionPolicyBinding"}
	// Mutation and MutationBinding are a policy that changes objects, and its binding.
	Mutation        = schema.GroupKind{Group: GroupAdmission, Kind: "MutatingAdmissionPolicy"}
	MutationBinding = schema.GroupKind{Group: GroupAdmission, Kind: "MutatingAdmissionPolicyBinding"}
	Namespace       = schema.GroupKind{Kind: "Namespace"}
	// ServiceAccount is the account of a Pod.
	ServiceAccount = schema.GroupKind{Kind: "ServiceAccount"}
	Definition     = schema.GroupKind{Group: GroupExtensions, Kind: "CustomResourceDefinition"}
	// HelmRelease has helm-controller of Flux install a chart.
	HelmRelease = schema.GroupKind{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease"}
)

// Effect says what objects of a kind do to requests about other objects.
type Effect int

const (
	// None: nothing that is known here.
	None Effect = iota
	// Judges: a policy or a binding, which allow and deny requests, or change their objects.
	Judges
	// Contains: a Namespace, whose labels and annotations policies see.
	Contains
	// Defines: a CustomResourceDefinition, which defines the kind of others.
	Defines
	// Authorizes: RBAC, which policies can ask about.
	Authorizes
	// Completes: admission plugins look it up to complete objects, or to refuse them.
	Completes
	// NotSimulated: an API server changes or refuses requests by it; verdicts do not
	// include that.
	NotSimulated
)

// Kind is a row of the table.
type Kind struct {
	// GroupKind is the kind. A row without a Kind is for all kinds of the group that
	// have no row of their own.
	schema.GroupKind
	Effect Effect
	// Governs is set when roots may have different versions of an object, which are
	// kept apart, and a change of the object makes others be judged again.
	Governs bool
	// Version is the API version in which admission plugins read the kind.
	Version string
	// NeededBy says which objects make an API server look for objects of the kind.
	NeededBy Need
}

// Need describes objects by what they hold. An object that matches one of Fields or
// Kinds is described.
type Need struct {
	// Fields are names of fields, at any depth.
	Fields []string
	// Kinds are kinds, of any group.
	Kinds []string
	// InNamespace is set when only what lies in the object's namespace is looked for.
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

// IsPolicy reports whether a kind is that of policies or of bindings, which validate or mutate.
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

// Describes reports whether an object of a kind is described. has reports whether the
// object has a field of a name, at any depth.
func (n Need) Describes(kind string, has func(field string) bool) bool {
	return slices.Contains(n.Kinds, kind) || slices.ContainsFunc(n.Fields, has)
}

// IsMutation reports whether a kind is that of a policy that changes objects, or of its binding.
func IsMutation(kind schema.GroupKind) bool { return kind == Mutation || kind == MutationBinding }
