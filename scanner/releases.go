package scanner

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission/emulation"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/clusterconfig"
	"github.com/preadmit/preadmit/scanner/lines"
	"github.com/preadmit/preadmit/scanner/release"
	"github.com/preadmit/preadmit/scanner/target"
)

// Tool returns the description of the program for reports, with the release that the process imitates.
func Tool(version string) report.Tool {
	r := emulation.Current()
	return report.Tool{Name: "preadmit", Version: version, Kubernetes: r.Version, FeatureGates: r.FeatureGates, RuntimeConfig: r.RuntimeConfig}
}

// checkReleases returns an error for targets that this process cannot judge.
func (s *scan) checkReleases() error {
	for _, t := range s.targets {
		if s.in.Part || t.Release == emulation.Current() {
			continue
		}
		of := ""
		if t.Name != "" {
			of = "target " + t.Name + ": "
		}
		return &InputError{What: "kubernetesVersion", Err: fmt.Errorf("%sits API server is of Kubernetes %s, and this process judges as %s does", of, t.Release, emulation.Current())}
	}
	return nil
}

// judged returns the targets of the release that the process imitates.
func (s *scan) judged() []*target.Target {
	return slices.DeleteFunc(slices.Clone(s.targets), func(t *target.Target) bool { return t.Release != emulation.Current() })
}

// targetNames returns the names of the judged targets.
func (s *scan) targetNames() []string {
	var names []string
	for _, t := range s.targets {
		if t.Name != "" && !slices.Contains(names, t.Name) {
			names = append(names, t.Name)
		}
	}
	return names
}

// servers returns the API server that the process imitates, for the summary; nil if it is the latest release
// with default settings.
func (s *scan) servers(requests int) []report.Server {
	r := emulation.Current()
	if r == (release.Release{}).Normal() {
		return nil
	}
	return []report.Server{{Version: r.Version, FeatureGates: r.FeatureGates, RuntimeConfig: r.RuntimeConfig, Targets: s.targetNames(), Requests: requests}}
}

// noteServers reports files of the head that configure another API server than the one that judges. For a
// change it looks for them only if the API server itself has findings, since the work must grow with the
// change.
func (s *scan) noteServers(ctx context.Context, findings []lines.Finding) error {
	if s.Base != nil && !slices.ContainsFunc(findings, func(f lines.Finding) bool { return f.Cause == report.CauseSchema || f.Cause == report.CausePolicy }) {
		return nil
	}
	settings, err := clusterconfig.Find(ctx, s.Head.Renderer.Tree(), render.IsTestData)
	if err != nil {
		return err
	}
	for _, d := range target.OtherServers(settings, &s.in.Config) {
		also := ""
		if d.Others > 0 {
			also = fmt.Sprintf(" (and %d more)", d.Others)
		}
		s.ledger.Note(report.Diagnostic{
			Severity: "warning",
			Location: new(change.LocationOf(render.Position{Path: d.Path, Line: d.Line}, change.Head)),
			Message:  fmt.Sprintf("the API server of this cluster%s has %s", also, d.Description),
		})
	}
	return nil
}

// Part is the result of a scan for the targets of one Kubernetes release.
type Part struct {
	Release release.Release `json:"release"`
	Report  *report.Report  `json:"report"`
	// Targets are the names of the targets.
	Targets []string `json:"targets,omitempty"`
	// Policies and Bindings are the names of those that judged requests.
	Policies []string `json:"policies,omitempty"`
	Bindings []string `json:"bindings,omitempty"`
	// Objects are the objects of the requests.
	Objects []PartObject `json:"objects,omitempty"`
	// Elsewhere are the roots of the report's charts that are in none of these targets.
	Elsewhere []string `json:"elsewhere,omitempty"`
}

// PartObject identifies an object of a root.
type PartObject struct {
	Root   string        `json:"root"`
	Object report.Object `json:"object"`
}

// ScanPart scans like Scan, with Input.Part set, and returns a result for Join.
func ScanPart(ctx context.Context, in Input) (*Part, error) {
	in.Part = true
	s := newScan(in)
	out, err := s.run(ctx)
	if err != nil {
		return nil, err
	}
	p := &Part{Release: emulation.Current(), Report: s.report, Policies: slices.Sorted(maps.Keys(out.rules.policies)), Bindings: slices.Sorted(maps.Keys(out.rules.bindings))}
	p.Targets = s.targetNames()
	for id := range out.objects {
		p.Objects = append(p.Objects, PartObject{id.root, id.object})
	}
	judged := map[string]bool{}
	for _, t := range s.targets {
		for _, id := range t.Roots {
			judged[id.String()] = true
		}
	}
	for _, c := range s.report.Charts {
		if !judged[c.Root] {
			p.Elsewhere = append(p.Elsewhere, c.Root)
		}
	}
	return p, nil
}

// Join combines the results for several releases into one report.
func Join(parts []*Part) *report.Report {
	if len(parts) == 1 {
		return parts[0].Report
	}
	parts = slices.Clone(parts)
	slices.SortStableFunc(parts, func(a, b *Part) int {
		return cmp.Or(cmp.Compare(release.Minor(a.Release.Version), release.Minor(b.Release.Version)), cmp.Compare(a.Release.String(), b.Release.String()))
	})
	joined := *parts[0].Report
	joined.Findings, joined.Indeterminate, joined.Diagnostics, joined.Requests = []report.Finding{}, []report.Indeterminate{}, []report.Diagnostic{}, nil
	sum := report.Summary{Roots: joined.Summary.Roots, NoPolicies: joinNoPolicies(parts)}
	var versions []string
	policies, bindings := map[string]bool{}, map[string]bool{}
	objects := map[objectID]bool{}
	for _, p := range parts {
		r := p.Report
		for _, f := range r.Findings {
			f.Kubernetes = []string{p.Release.String()}
			joined.Findings = append(joined.Findings, f)
		}
		joined.Indeterminate = append(joined.Indeterminate, r.Indeterminate...)
		joined.Diagnostics = append(joined.Diagnostics, r.Diagnostics...)
		for _, q := range r.Requests {
			q.Kubernetes = p.Release.String()
			joined.Requests = append(joined.Requests, q)
		}
		versions = append(versions, p.Release.Version)
		sum.Kubernetes = append(sum.Kubernetes, report.Server{
			Version: p.Release.Version, FeatureGates: p.Release.FeatureGates, RuntimeConfig: p.Release.RuntimeConfig,
			Targets: p.Targets, Requests: r.Summary.Requests,
		})
		addSummary(&sum, &r.Summary)
		for _, name := range p.Policies {
			policies[name] = true
		}
		for _, name := range p.Bindings {
			bindings[name] = true
		}
		for _, o := range p.Objects {
			objects[idOf(o.Root, &o.Object)] = true
		}
	}
	joined.Tool.Kubernetes, joined.Tool.FeatureGates, joined.Tool.RuntimeConfig = strings.Join(slices.Compact(versions), ", "), "", ""
	joined.Sort()
	joined.Findings = joinFindings(joined.Findings)
	joined.Indeterminate = compactEqual(joined.Indeterminate)
	joined.Diagnostics = compactEqual(joined.Diagnostics)
	report.SetFingerprints(joined.Findings)
	sum.Policies, sum.Bindings = len(policies), len(bindings)
	sum.Findings = report.CountFindings(joined.Findings)
	sum.Coverage = coverage(objects, joined.Indeterminate)
	slices.SortFunc(sum.Webhooks, func(a, b report.Webhook) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Configuration, b.Configuration), cmp.Compare(a.Name, b.Name))
	})
	sum.Webhooks = slices.Compact(sum.Webhooks)
	joined.Charts = joinCharts(parts)
	settleCharts(&joined) // a unit may not render for the version that judges it
	joined.Summary = sum
	return &joined
}

// joinNoPolicies returns why no policy was in force for the requests of all parts; nil if one was for those of any
// part. A part without requests may have no policies either, and none to report.
func joinNoPolicies(parts []*Part) (none *report.NoPolicies) {
	for _, p := range parts {
		of := &p.Report.Summary
		switch {
		case of.NoPolicies == nil && of.Requests > 0:
			return nil
		case of.NoPolicies != nil && (none == nil || of.NoPolicies.Required && !none.Required):
			none = of.NoPolicies
		}
	}
	return none
}

// joinCharts returns the charts of all parts, each as the first part has it that judges its root. Unread holds only
// if it does in all parts that judge the root.
func joinCharts(parts []*Part) (all []report.ChartChange) {
	type id struct { // several sources of an Application may have one chart
		root, chart, from, to, path string
		line                        int
	}
	at, judged := map[id]int{}, map[id]bool{}
	for _, p := range parts {
		for _, c := range p.Report.Charts {
			key, judges := id{c.Root, c.Chart, c.From, c.To, c.Location.Path, c.Location.StartLine}, !slices.Contains(p.Elsewhere, c.Root)
			i, known := at[key]
			switch {
			case !known:
				at[key] = len(all)
				all = append(all, c)
			case judges && !judged[key]:
				all[i] = c
			case judges:
				all[i].Unread = all[i].Unread && c.Unread
			}
			judged[key] = judged[key] || judges
		}
	}
	return all
}

// addSummary adds the counts of a part to the sums.
func addSummary(to, of *report.Summary) {
	to.Requests += of.Requests
	to.Evaluations += of.Evaluations
	to.Webhooks = append(to.Webhooks, of.Webhooks...)
	if worse(of.Roots, to.Roots) {
		to.Roots = of.Roots // a chart may not render for this version
	}
	for _, d := range []struct {
		to *float64
		of float64
	}{
		{&to.Durations.Discover, of.Durations.Discover},
		{&to.Durations.Render, of.Durations.Render}, {&to.Durations.Judge, of.Durations.Judge},
		{&to.Durations.Locate, of.Durations.Locate}, {&to.Durations.Total, of.Durations.Total},
	} {
		*d.to += d.of
	}
}

func worse(a, b report.RootCounts) bool {
	return cmp.Or(cmp.Compare(a.Failed, b.Failed), cmp.Compare(a.Lost, b.Lost), cmp.Compare(a.Indeterminate, b.Indeterminate)) > 0
}

// joinFindings merges findings, in the report's order, that differ only in the Kubernetes version.
func joinFindings(sorted []report.Finding) []report.Finding {
	joined := []report.Finding{}
	for _, f := range sorted {
		var same *report.Finding
		for i := len(joined) - 1; i >= 0 && joined[i].Location.Path == f.Location.Path && joined[i].Location.StartLine == f.Location.StartLine; i-- {
			if alike(&joined[i], &f) {
				same = &joined[i]
				break
			}
		}
		if same == nil {
			joined = append(joined, f)
			continue
		}
		for _, version := range f.Kubernetes {
			if !slices.Contains(same.Kubernetes, version) {
				same.Kubernetes = append(same.Kubernetes, version)
			}
		}
	}
	return joined
}

// alike reports whether two findings differ at most in Kubernetes version and fingerprint.
func alike(a, b *report.Finding) bool {
	x, y := *a, *b
	x.Kubernetes, y.Kubernetes, x.Fingerprint, y.Fingerprint = nil, nil, "", ""
	return reflect.DeepEqual(x, y)
}
