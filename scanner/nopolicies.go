package scanner

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/server"
	"github.com/preadmit/preadmit/scanner/target"
)

// policyNames holds the names of the policies and bindings that judged requests.
type policyNames struct {
	policies map[string]bool
	// bindings maps the name of each binding to that of its policy.
	bindings map[string]string
}

// judgedBy adds the policies and bindings that judge a root.
func (b *policyNames) judgedBy(r *target.RootReview) {
	for _, s := range []*server.Server{r.InForce, r.Proposed} {
		for _, set := range s.PolicySets() {
			b.add(set)
		}
	}
}

func (b *policyNames) add(set *policy.Set) {
	for _, p := range set.Policies {
		b.policies[p.Name] = true
	}
	for _, binding := range set.Bindings {
		b.bindings[binding.Name] = binding.Spec.PolicyName
	}
}

// inForce reports whether a policy with a binding is there.
func (b *policyNames) inForce() bool {
	for _, name := range b.bindings {
		if b.policies[name] {
			return true
		}
	}
	return false
}

// noPolicies returns why no policy judged the requests; nil if a policy was in force, or if a change makes no
// requests. A scan without a base that makes no requests, for example of a wrong directory, has no policy either;
// this is reported if policies are required.
func (s *scan) noPolicies(ctx context.Context, out *outcome) (*report.NoPolicies, error) {
	nothing := out.requests == 0 && (s.in.Base != nil || !s.in.Config.RequirePolicies)
	if nothing || out.rules.inForce() {
		return nil, nil
	}
	engines, err := s.otherEngines(ctx)
	if err != nil {
		return nil, err
	}
	where := "the manifests"
	if len(s.in.Config.Targets) > 0 {
		where = "the manifests of the targets of " + config.FileName
	}
	why := out.rules.whyNone(where, s.givenPolicies(), out.refusedPolicies())
	if len(engines) > 0 {
		why += "; policies of " + listed(engines) + " are not evaluated"
	}
	return &report.NoPolicies{Why: why, Required: s.in.Config.RequirePolicies}, nil
}

// whyNone returns the reason why no policy is in force, with advice. where describes the place that was searched,
// given has the paths that were given as policies, and refused is the number of refused policies.
// given as policies, and refused is how many policies are refused.
func (b *policyNames) whyNone(where string, given []string, refused int) string {
	policies, bindings := len(b.policies), len(b.bindings)
	switch {
	case policies == 0 && refused > 0:
		return counted(refused, "policy is here, which the API server refuses", "policies are here, which the API server refuses")
	case policies > 0 && bindings == 0:
		return fmt.Sprintf("there is no ValidatingAdmissionPolicyBinding, without which %s no effect; add one, or give it with --policies",
			counted(policies, "policy has", "policies have"))
	case policies > 0:
		return fmt.Sprintf("%s of %s; a policy has an effect only with a binding that names it",
			counted(bindings, "binding is of another policy than that", "bindings are of other policies than those"), counted(policies, "policy", "policies"))
	case bindings > 0:
		return fmt.Sprintf("%s here, but no ValidatingAdmissionPolicy; add the policies, or give them with --policies", counted(bindings, "binding is", "bindings are"))
	case len(given) > 0:
		return "there is no ValidatingAdmissionPolicy among " + where + ", nor in " + strings.Join(given, ", ")
	}
	return "there is no ValidatingAdmissionPolicy among " + where + "; add policies and bindings, or give them with --policies"
}

// listed joins names for a sentence, with "and" before the last.
func listed(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// givenPolicies returns the names of the paths that were given as policies.
func (s *scan) givenPolicies() []string {
	var names []string
	for _, extra := range s.in.Extra {
		if extra.Policies {
			names = append(names, extra.Name)
		}
	}
	return append(names, s.in.Config.Policies...)
}

// otherEngines returns the names of other policy engines with policies in the head, sorted. To find them it renders
// roots that were not rendered and may hold such policies.
func (s *scan) otherEngines(ctx context.Context) ([]string, error) {
	found := map[string]bool{}
	note := func(objects []*admission.Object) {
		for _, o := range objects {
			if name := policyEngines[o.GroupVersionKind().Group]; name != "" {
				found[name] = true
			}
		}
	}
	note(s.extras)
	for _, r := range s.Head.Roots {
		note(r.Objects)
	}
	roots := s.mayHoldEngines(found)
	rendered := make([]*change.Rendered, len(roots))
	err := s.work.Each(ctx, "render "+s.Head.Name, len(roots), func(ctx context.Context, i int) error {
		rendered[i] = s.Head.Render(ctx, roots[i])
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for policies of other engines: %w", err)
	}
	for _, r := range rendered {
		note(r.Objects)
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// mayHoldEngines returns the roots of the head that were not rendered and may hold policies of engines that are not
// found yet. It omits roots that need artifacts: rendering them takes too long for a hint.
func (s *scan) mayHoldEngines(found map[string]bool) []render.Root {
	var mentions []render.Mention
	for group, name := range policyEngines {
		if !found[name] {
			mentions = append(mentions, render.Mention{Group: group})
		}
	}
	return slices.DeleteFunc(slices.Clone(s.Head.Found.Roots), func(root render.Root) bool {
		if s.Head.Roots[root.RootID] != nil {
			return true
		}
		needs := s.Head.Renderer.Needs(root)
		return len(needs.Artifacts) > 0 || !s.Head.Renderer.MayHold(needs, mentions...)
	})
}

// policyEngines maps API groups of policies to the names of other policy engines.
var policyEngines = map[string]string{
	"kyverno.io":                "Kyverno",
	"policies.kyverno.io":       "Kyverno",
	"templates.gatekeeper.sh":   "Gatekeeper",
	"constraints.gatekeeper.sh": "Gatekeeper",
	"policies.kubewarden.io":    "Kubewarden",
}
