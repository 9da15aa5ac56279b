package explain

import (
	"slices"

	apiserver "k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/mutation"
	"github.com/preadmit/preadmit/scanner/policy"
)

// mutations explains the mutating policies.
func (x *explainer) mutations() {
	sets := x.server.PolicySets()
	if len(sets) == 0 {
		return
	}
	defer x.mutationsMissing(sets[0])
	if len(sets[0].Mutations) == 0 {
		return
	}
	request := x.request
	request.Mutator = nil
	req, _, err := x.server.Cluster().Prepare(x.ctx, request)
	if err != nil {
		req = x.verdict.Request
	}
	writes := x.verdict.Mutations
	if len(writes) > 0 {
		x.before = writes[0].Before
	}
	var all []*applications
	for _, m := range sets[0].Mutations {
		bound := false
		made := applicationsOf(writes, m.Name, len(m.Spec.Mutations))
		all = append(all, made)
		for _, b := range sets[0].MutationBindings {
			if b.Spec.PolicyName != m.Name {
				continue
			}
			bound = true
			subject := policy.Subject{Policy: m.Matching(), Binding: b.Matching(), Mutations: m.Spec.Mutations}
			one := report.ExplainedPolicy{Kind: "MutatingAdmissionPolicy"}
			if x.request.Operation == apiserver.Delete {
				one.Matching = []report.ExplainedMatch{{Field: "spec.matchConstraints", Of: "policy", Result: "no", Decides: true, Why: "an API server asks no MutatingAdmissionPolicy about a DELETE"}}
			}
			if !mutation.Enabled() {
				one.Matching = []report.ExplainedMatch{{Field: "spec.matchConstraints", Of: "policy", Result: "no", Decides: true, Why: "the feature gate MutatingAdmissionPolicy is off: the API server runs no MutatingAdmissionPolicies"}}
			}
			x.policy(x.server.Engines()[0], req, subject, &one, made)
		}
		if !bound && x.isSelected(m.Name, "") {
			x.unbound(report.ExplainedPolicy{Kind: "MutatingAdmissionPolicy", Name: m.Name, FailurePolicy: failurePolicy(m.Spec.FailurePolicy)})
		}
	}
	if x.seal() != nil {
		x.secrets.invokedAgain(all)
	}
	if len(writes) > 0 {
		x.out.Changes = x.changes(writes)
	}
}

// mutationsMissing adds the bindings whose policy does not exist.
func (x *explainer) mutationsMissing(set *policy.Set) {
	for _, b := range set.MutationBindings {
		if !slices.ContainsFunc(set.Mutations, func(m *policy.Mutation) bool { return m.Name == b.Spec.PolicyName }) {
			x.bindsNothing(report.ExplainedPolicy{Kind: "MutatingAdmissionPolicy", Name: b.Spec.PolicyName, Binding: b.Name})
		}
	}
}

// application holds the writes of a policy for one binding and one param.
type application struct {
	param  string
	writes []mutation.Write
	// taken is set once the application is assigned to a binding.
	taken bool
}

// applications are the applications of one policy.
type applications struct {
	made []application
	// mutations is the number of mutations of the policy.
	mutations int
	// before is the object after the previous policies; nil if they did not change it.
	before map[string]any
}

func applicationsOf(writes []mutation.Write, name string, mutations int) *applications {
	all := &applications{mutations: mutations}
	last := -1
	for _, w := range writes {
		if w.Policy.Name != name {
			if last = -1; w.Policy.Name < name {
				all.before = w.After
			}
			continue
		}
		if n := len(all.made); last < 0 || w.Mutation <= last || all.made[n-1].param != w.Param {
			all.made = append(all.made, application{param: w.Param})
		}
		one := &all.made[len(all.made)-1]
		one.writes = append(one.writes, w)
		last = w.Mutation
	}
	return all
}

// next returns the first application with a param that is not assigned to a binding yet; nil if
// there is none.
func (a *applications) next(param string) *application {
	for i := range a.made {
		if one := &a.made[i]; !one.taken && one.param == param {
			return one
		}
	}
	return nil
}

// stages returns the object when the policy matched it, and before each of its mutations.
func (a *applications) stages(one *application) (object map[string]any, before []map[string]any) {
	before = make([]map[string]any, a.mutations)
	if one == nil {
		return a.before, before
	}
	for _, w := range one.writes {
		before[w.Mutation] = w.Before
	}
	return one.writes[0].Before, before
}
