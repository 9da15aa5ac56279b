// Package upgrade compares the verdicts of the API servers of two Kubernetes versions.
package upgrade

import (
	"regexp"
	"slices"
	"strings"

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

// mark sets the status of the second version's findings for the same targets by comparing them with those of
// the first version.
func mark(from, out *report.Report) {
	before, after := timeless(from), timeless(out)
	said := map[string]bool{}
	for i := range before.Findings {
		said[keyOf(&before.Findings[i])] = true
	}
	still := map[string]bool{}
	for i := range out.Findings {
		key := keyOf(&after.Findings[i])
		still[key] = true
		if said[key] && out.Findings[i].Cause != report.CauseRender { // nothing is known of a root that does not render
			out.Findings[i].Status = report.StatusExisting
		}
	}
	for i := range before.Findings {
		if !still[keyOf(&before.Findings[i])] {
			gone := from.Findings[i]
			gone.Status = report.StatusResolved
			out.Findings = append(out.Findings, gone)
		}
	}
	for i := range out.Indeterminate {
		out.Indeterminate[i].Untouched = slices.ContainsFunc(before.Indeterminate, func(b report.Indeterminate) bool {
			return sameGap(&b, &after.Indeterminate[i])
		})
	}
	for i := range out.Diagnostics {
		d := &after.Diagnostics[i]
		out.Diagnostics[i].Untouched = slices.ContainsFunc(before.Diagnostics, func(b report.Diagnostic) bool {
			return b.Message == d.Message && b.Root == d.Root && samePlace(b.Location, d.Location)
		})
	}
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

// unserved matches messages that a kind is not served. Each version suggests a different replacement, which is
// removed before comparing.
var unserved = regexp.MustCompile(`((?:^no matches for kind "[^"]*" in version "[^"]*")|(?: does not serve \S+ \w+))[:;] .*`)

// timeless returns the compared parts of a report, without names of its version and of what it serves in
// texts.
func timeless(r *report.Report) *report.Report {
	versions := []string{}
	for _, s := range serversOf(r) {
		versions = append(versions, "Kubernetes "+s.Version, "Kubernetes")
	}
	replacer := strings.NewReplacer(versions...)
	strip := func(text string) string { return unserved.ReplaceAllString(replacer.Replace(text), "$1") }
	out := &report.Report{
		Findings: slices.Clone(r.Findings), Indeterminate: slices.Clone(r.Indeterminate), Diagnostics: slices.Clone(r.Diagnostics),
	}
	for i := range out.Findings {
		out.Findings[i].Message = strip(out.Findings[i].Message)
	}
	report.SetFingerprints(out.Findings)
	for i := range out.Indeterminate {
		out.Indeterminate[i].Why = strip(out.Indeterminate[i].Why)
	}
	for i := range out.Diagnostics {
		out.Diagnostics[i].Message = strip(out.Diagnostics[i].Message)
	}
	return out
}

// keyOf returns the part of a finding that is equal in both versions if it is the same finding: its
// fingerprint and its action.
func keyOf(f *report.Finding) string { return f.Fingerprint + " " + string(f.Action) }

func sameGap(a, b *report.Indeterminate) bool {
	sameObject := a.Object == b.Object || a.Object != nil && b.Object != nil && *a.Object == *b.Object
	return sameObject && a.What == b.What && a.Why == b.Why && a.Policy == b.Policy && a.Root == b.Root && samePlace(a.Location, b.Location)
}

func samePlace(a, b *report.Location) bool {
	return a == b || a != nil && b != nil && a.Path == b.Path && a.StartLine == b.StartLine
}
