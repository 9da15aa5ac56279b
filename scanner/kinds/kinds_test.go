package kinds

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestOf(t *testing.T) {
	for kind, want := range map[schema.GroupKind]Effect{
		Policy:          Judges,
		Binding:         Judges,
		Namespace:       Contains,
		Definition:      Defines,
		Mutation:        Judges,
		MutationBinding: Judges,
		{Group: GroupAdmission, Kind: "MutatingWebhookConfiguration"}:                 NotSimulated,
		{Group: GroupRBAC, Kind: "Role"}:                                              Authorizes,
		{Kind: "LimitRange"}:                                                          Completes,
		{Kind: "ConfigMap"}:                                                           None,
		{Group: "example.com", Kind: "Namespace"}:                                     None,
		{Group: "scheduling.k8s.io", Kind: "Workload"}:                                None,
		{Group: "policy.networking.k8s.io", Kind: "ValidatingAdmissionPolicyBinding"}: None,
	} {
		if got := Of(kind).Effect; got != want {
			t.Errorf("%s: effect %d, want %d", kind, got, want)
		}
	}
}

// TestTable checks that each kind has one row, and that rows have the fields that their effect needs.
func TestTable(t *testing.T) {
	seen := map[schema.GroupKind]bool{}
	for _, k := range table {
		if seen[k.GroupKind] {
			t.Errorf("%s has two rows", k.GroupKind)
		}
		seen[k.GroupKind] = true
		if (k.Effect == Completes) != (k.Version != "") {
			t.Errorf("%s: version %q", k.GroupKind, k.Version)
		}
		if need := len(k.NeededBy.Fields)+len(k.NeededBy.Kinds) > 0; (k.Effect == Completes) != need {
			t.Errorf("%s: nothing says which objects need it", k.GroupKind)
		}
	}
}
