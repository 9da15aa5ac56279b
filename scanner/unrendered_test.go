package scanner_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/report"
)

const (
	// twice is a manifest with a repeated key, so that its root does not render.
	twice = "{apiVersion: v1, kind: ConfigMap, kind: ConfigMap, metadata: {name: k}}\n"
	// remote is a kustomization that needs a network and also has a policy.
	remote = "resources: ['https://example.com/x.yaml', %s]\n"

	twiceFails  = `invalid YAML: key "kind" already set in map`
	remoteFails = `remote resource "https://example.com/x.yaml" is not fetched: preadmit fetch gets it`
	notRendered = "this root does not render, as it did not before the change, and is not judged: " + twiceFails
	unreadable  = "error : " + twiceFails
	notAsked    = "policies and bindings that this root may contain were not evaluated, because it does not render: "
)

// TestRootsThatNeverRendered checks that the effect of a change on a root that renders on neither
// side is reported as unknown.
func TestRootsThatNeverRendered(t *testing.T) {
	policies, _, _ := strings.Cut(gatedApp, "-- app/")
	broken := policies + "-- app/k.yaml --\n" + twice
	added := broken + cm("app/x.yaml", "x", "50")
	elsewhere := broken + cm("other/x.yaml", "x", "50")
	far := policies + "-- app/kustomization.yaml --\n" + strings.ReplaceAll(remote, "%s", "x.yaml") + cm("app/x.yaml", "x", "50")
	for name, test := range map[string]struct {
		base, head string
		want       []string
	}{
		"touched":         {broken, added, []string{"indeterminate root app: " + notRendered, unreadable}},
		"not touched":     {elsewhere, elsewhere + "-- other/s.yaml --\n{apiVersion: v1, kind: Secret, metadata: {name: s}}\n", []string{unreadable}},
		"gone":            {broken, policies, []string{"indeterminate root app: this root is gone and did not render before, so what is deleted with it is not known: " + twiceFails}},
		"gone and far":    {far, policies, []string{"indeterminate remote resource app: this root is gone, and what else is deleted with it is not known: " + remoteFails + rendersWithout}},
		"was not touched": {broken, broken + "-- README.md --\nx\n", []string{unreadable}},
	} {
		t.Run(name, func(t *testing.T) {
			r := mustScan(t, input(test.base, test.head))
			wantReport(t, r, test.want...)
			for _, i := range r.Indeterminate {
				if i.Untouched || i.Location == nil || i.Location.Path == "" {
					t.Errorf("%+v at %+v", i, i.Location)
				}
			}
			want := report.VerdictPassed
			if len(r.Indeterminate) > 0 {
				want = report.VerdictFailed
			}
			if got := r.Verdict("indeterminate", false); got != want {
				t.Errorf("verdict %s, not %s", got, want)
			}
		})
	}
}

// TestPoliciesThatDoNotRender checks that policies which do not render are reported, whether or not
// the change touches them.
func TestPoliciesThatDoNotRender(t *testing.T) {
	policies, _, _ := strings.Cut(gatedApp, "-- app/")
	sized := func(size string) string {
		return strings.Replace(cm("app/x.yaml", "x", size), "{a:", "{size:", 1)
	}
	app, changed := sized("1"), sized("50")
	broken := policies + "-- policies/k.yaml --\n" + twice
	far := policies + "-- policies/kustomization.yaml --\n" + strings.ReplaceAll(remote, "%s", "limit.yaml, binding.yaml")
	other := "-- other/kustomization.yaml --\n" + strings.ReplaceAll(remote, "%s", "z.yaml") + "generators: [g.yaml]\n" + cm("other/z.yaml", "z", "1")
	mad := "-- mad/kustomization.yaml --\nresources: 1\n"
	const madFails = "resources is a number, and has to be a list of strings"
	madly := mad + strings.ReplaceAll(policies, "-- policies/", "-- mad/")
	plain := "-- plain/k.yaml --\n" + twice
	failing := "note policies: " + notRendered
	const untouched = "indeterminate root other: "
	unasked := "indeterminate policy policies: " + notAsked + twiceFails
	for name, test := range map[string]struct {
		base, head string
		roots      []string
		want       []string
	}{
		"broken":                              {broken + app, broken + changed, nil, []string{unasked, unreadable, failing}},
		"broken, nothing asked":               {broken + app, broken + app + "-- app/x.txt --\nx\n", nil, []string{unreadable}},
		"far":                                 {far + app, far + changed, nil, []string{"new Deny validation app/x.yaml UPDATE ConfigMap default/x: too many [inForce]", "indeterminate remote resource policies: " + remoteFails + rendersWithout}},
		"far, with no policies, put together": {other + app, other + changed, nil, []string{"indeterminate root other: " + remoteFails}},
		"put together by what cannot be read": {mad + app, mad + changed, nil, []string{
			"note mad: this root does not render, as it did not before the change, and is not judged: " + madFails}},
		"beside what cannot be read": {madly + app, madly + changed, nil, []string{
			"indeterminate policy mad: " + notAsked + madFails, "note mad: this root does not render, as it did not before the change, and is not judged: " + madFails}},
		"no policies": {plain + app, plain + changed, nil, []string{unreadable}},
		"touched":     {broken + app, broken + changed + cm("policies/z.yaml", "z", "1"), nil, []string{"indeterminate root policies: " + notRendered, unreadable}},
		"gone":        {broken + app, changed, nil, []string{"indeterminate root policies: this root is gone and did not render before, so what is deleted with it is not known: " + twiceFails}},
		"not judged":  {broken + app, broken + changed, []string{"app"}, []string{unasked, unreadable, "note policies: this root is not judged and does not render, so policies, namespaces and params in it are unknown: " + twiceFails}},
		"not judged, broken by the change": {policies + app, broken + changed, []string{"app"}, []string{
			"new Deny validation app/x.yaml UPDATE ConfigMap default/x: too many [inForce]",
			unasked, unreadable, "note policies: this root is not judged and does not render, so policies, namespaces and params in it are unknown: " + twiceFails}},
		"not judged, and gone": {broken + app, changed, []string{"app"}, []string{unasked}},
	} {
		t.Run(name, func(t *testing.T) {
			in := input(test.base, test.head)
			in.Config.Roots = test.roots
			r := mustScan(t, in)
			wantReport(t, r, test.want...)
			want := report.VerdictPassed
			if slices.ContainsFunc(test.want, func(line string) bool {
				return strings.HasPrefix(line, "indeterminate") && !strings.HasPrefix(line, untouched)
			}) {
				want = report.VerdictFailed
			}
			if got := r.Verdict("indeterminate", false); got != want {
				t.Errorf("verdict %s, not %s", got, want)
			}
			sameAsWhole(t, in)
		})
	}
}
