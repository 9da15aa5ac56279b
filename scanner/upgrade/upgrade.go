// Package upgrade compares the verdicts of the API servers of two Kubernetes versions.
package upgrade

import (
	"slices"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
)

// Pair has the results of the API servers of two versions for the same targets.
type Pair struct{ From, To *scanner.Part }

// Compare compares the results of the API servers of two versions for the same trees: findings of only the
// later version are new, findings of both are existing, and findings of only the earlier version are resolved.
// Each pair is compared separately, so that a new finding of one target is new even if another target already
// had it. The parts must not be used afterwards.
func Compare(pairs []Pair) *report.Report {
	var froms, tos []*scanner.Part
	for _, p := range pairs {
		mark(p.From.Report, p.To.Report)
		froms, tos = append(froms, p.From), append(tos, p.To)
	}
	from, out := scanner.Join(froms), scanner.Join(tos)
	for i := range out.Findings {
		if out.Findings[i].Status == report.StatusResolved {
			out.Findings[i].Kubernetes = nil // the second version does not have it
		}
	}
	if none := out.Summary.NoPolicies; none != nil && !none.Required && from.Summary.NoPolicies != nil {
		out.Summary.NoPolicies = nil // it does not depend on the version
	}
	out.Change.Base = &report.Revision{Name: as(from), Commit: from.Change.Head.Commit}
	out.Change.Head.Name = as(out)
	servers := append(serversOf(from), serversOf(out)...)
	out.Tool.Kubernetes = from.Tool.Kubernetes + ", " + out.Tool.Kubernetes
	out.Summary.Kubernetes = nil
	for _, s := range servers { // targets of one version may be in several parts
		same := func(o report.Server) bool {
			return o.Version == s.Version && o.FeatureGates == s.FeatureGates && o.RuntimeConfig == s.RuntimeConfig
		}
		if i := slices.IndexFunc(out.Summary.Kubernetes, same); i >= 0 {
			o := &out.Summary.Kubernetes[i]
			o.Targets, o.Requests = slices.Concat(o.Targets, s.Targets), o.Requests+s.Requests
			continue
		}
		out.Summary.Kubernetes = append(out.Summary.Kubernetes, s)
	}
	for _, d := range []struct{ to, of *float64 }{
		{&out.Summary.Durations.Discover, &from.Summary.Durations.Discover},
		{&out.Summary.Durations.Render, &from.Summary.Durations.Render}, {&out.Summary.Durations.Judge, &from.Summary.Durations.Judge},
		{&out.Summary.Durations.Locate, &from.Summary.Durations.Locate}, {&out.Summary.Durations.Total, &from.Summary.Durations.Total},
	} {
		*d.to += *d.of
	}
	out.Sort()
	report.SetFingerprints(out.Findings)
	out.Summary.Findings = report.CountFindings(out.Findings)
	return out
}

// as returns the name of a side of an upgrade.
func as(r *report.Report) string { return r.Change.Head.Name + " as Kubernetes " + r.Tool.Kubernetes }

// serversOf returns the API servers of a report, including the latest.
func serversOf(r *report.Report) []report.Server {
	if len(r.Summary.Kubernetes) > 0 {
		return r.Summary.Kubernetes
	}
	return []report.Server{{Version: r.Tool.Kubernetes, FeatureGates: r.Tool.FeatureGates, RuntimeConfig: r.Tool.RuntimeConfig, Requests: r.Summary.Requests}}
}
