package scanner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/server"
	"github.com/preadmit/preadmit/scanner/target"
)

// rulebook is the policies and bindings that judged, by name.
type rulebook struct {
	policies map[string]bool
	// bindings has the policy of each binding.
	bindings map[string]string
}

// judgedBy adds the policies and bindings that judge a root.
func (b *rulebook) judgedBy(r *target.RootReview) {
	for _, s := range []*server.Server{r.InForce, r.Proposed} {
		for _, set := range s.PolicySets() {
			b.add(set)
		}
	}
}

func (b *rulebook) add(set *policy.Set) {
	for _, p := range set.Policies {
		b.policies[p.Name] = true
	}
	for _, binding := range set.Bindings {
		b.bindings[binding.Name] = binding.Spec.PolicyName
	}
}

// inForce reports whether a policy has a binding.
func (b *rulebook) inForce() bool {
	for _, name := range b.bindings {
		if b.policies[name] {
			return true
		}
	}
	return false
}

// noPolicies says why requests were judged by no policy; nil if there are none, or a
// policy was in force.
func (s *scan) noPolicies(out *outcome) *report.NoPolicies {
	if out.requests == 0 || out.rules.inForce() {
		return nil
	}
	why := out.rules.whyNone(s.givenPolicies())
	if engines := s.otherEngines(); len(engines) > 0 {
		why += "; policies of " + strings.Join(engines, " and ") + " are not evaluated"
	}
	return &report.NoPolicies{Why: why, Required: s.in.Config.RequirePolicies}
}

// whyNone says why no policy is in force, and what to do. given are the paths that were
// given as policies.
func (b *rulebook) whyNone(given []string) string {
	policies, bindings := len(b.policies), len(b.bindings)
	switch {
	case policies > 0 && bindings == 0:
		return fmt.Sprintf("there is no ValidatingAdmissionPolicyBinding, without which %s no effect; add one, or give it with --policies",
			counted(policies, "policy has", "policies have"))
	case policies > 0:
		return fmt.Sprintf("%s of %s; a policy has an effect only with a binding that names it",
			counted(bindings, "binding is of another policy than that", "bindings are of other policies than those"), counted(policies, "policy", "policies"))
	case bindings > 0:
		return fmt.Sprintf("%s here, but no ValidatingAdmissionPolicy; add the policies, or give them with --policies", counted(bindings, "binding is", "bindings are"))
	case len(given) > 0:
		return "there is no ValidatingAdmissionPolicy in the repository, nor in " + strings.Join(given, ", ")
	}
	return "there is no ValidatingAdmissionPolicy in the repository; add policies and bindings, or give them with --policies"
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// givenPolicies returns the names of what was given as policies.
func (s *scan) givenPolicies() []string {
	var names []string
	for _, extra := range s.in.Extra {
		if extra.Policies {
			names = append(names, extra.Name)
		}
	}
	return append(names, s.in.Config.Policies...)
}

// otherEngines returns the names of the policy engines that rendered objects belong to.
func (s *scan) otherEngines() []string {
	var found []string
	note := func(objects []*admission.Object) {
		for _, o := range objects {
			if name := engineOf(o.GroupVersionKind().Group); name != "" && !slices.Contains(found, name) {
				found = append(found, name)
			}
		}
	}
	for _, r := range s.Head.Roots {
		note(r.Objects)
	}
	note(s.extras)
	slices.Sort(found)
	return found
}

// engineOf returns the policy engine whose policies have an API group; empty if there is
// none.
func engineOf(group string) string {
	switch group {
	case "kyverno.io", "policies.kyverno.io":
		return "Kyverno"
	case "templates.gatekeeper.sh", "constraints.gatekeeper.sh":
		return "Gatekeeper"
	case "policies.kubewarden.io":
		return "Kubewarden"
	}
	return ""
}
