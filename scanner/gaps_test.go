package scanner_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/config"
)

func TestScanWithoutRoots(t *testing.T) {
	wantReport(t, mustScan(t, input("", "-- README.md --\nnothing\n")), "warning : nothing to judge: no root was found")
	in := input("", "-- app/kustomization.yaml --\nresources: []\n-- prod/kustomization.yaml --\nresources: [../app]\n")
	in.Head.Under = []string{"app"}
	wantReport(t, mustScan(t, in), "warning : nothing to judge: app is used by prod: name that instead")
}

// TestNamedPathsWithNothingToJudge checks that naming a path with nothing to judge is an error.
func TestNamedPathsWithNothingToJudge(t *testing.T) {
	files := cm("app/cm.yaml", "a", "1") + cm("base/cm.yaml", "b", "1") + `
-- base/kustomization.yaml --
resources: [cm.yaml]
-- prod/kustomization.yaml --
resources: [../base]
-- empty.yaml --
-- comments.yaml --
# nothing
-- values.yaml --
replicas: 1
-- README.md --
# How to apply it

apiVersion: v1, kind: ConfigMap, [nothing
-- docs/README.md --
nothing
-- unfinished/notes.yaml --
a: [
`
	for _, test := range []struct{ path, exclude, want string }{
		{"docs", "", "docs has no manifest, kustomization or chart"},
		{"unfinished", "", "unfinished has no manifest, kustomization or chart"},
		{"nowhere", "", "nowhere has no manifest, kustomization or chart"},
		{"base", "", "base is used by prod: name that instead"},
		{"empty.yaml", "", "empty.yaml holds no Kubernetes object"},
		{"comments.yaml", "", "comments.yaml holds no Kubernetes object"},
		{"values.yaml", "", "values.yaml holds no Kubernetes object"},
		{"README.md", "", "README.md holds no Kubernetes object"},
		{"app/cm.yaml", "app", "app/cm.yaml is left out by --roots, --exclude or roots in .preadmit.yaml"},
		{"app", "app", "app is left out by --roots, --exclude or roots in .preadmit.yaml"},
		{"values.yaml", "app", "values.yaml holds no Kubernetes object"},
	} {
		for _, before := range []string{"", files} {
			in := input(before, files)
			in.Head.Under, in.Head.Named = []string{test.path}, true
			if test.exclude != "" {
				in.Config.Roots = []string{"!" + test.exclude}
			}
			var mistake *scanner.InputError
			if _, err := scanner.Scan(t.Context(), in); !errors.As(err, &mistake) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: got %v, want a mistake of the input with %q", test.path, err, test.want)
			}
			in.Head.Under = []string{test.path, "prod"}
			r, saysNothing := mustScan(t, in), test.path == "base" // prod uses it
			if slices.ContainsFunc(r.Diagnostics, func(d report.Diagnostic) bool {
				return strings.HasPrefix(d.Message, "nothing to judge: "+test.want)
			}) == saysNothing {
				t.Errorf("%s beside prod: got %v", test.path, r.Diagnostics)
			}
		}
	}
	in := input("", "-- README.md --\nnothing\n")
	in.Head.Named = true
	if _, err := scanner.Scan(t.Context(), in); err == nil || !strings.Contains(err.Error(), "this directory has no manifest, kustomization or chart") {
		t.Errorf("got %v for a directory with nothing", err)
	}
}

// refusingBad is a policy that refuses ConfigMaps with the value bad.
func refusingBad() string {
	policies, _, _ := strings.Cut(gatedApp, "-- app/")
	return strings.Replace(policies, "object.data.size == '1'", "object.data.?a.orValue('') != 'bad'", 1)
}

// TestNamedFilesThatNothingUses checks that a named file is judged, whatever is next to it.
func TestNamedFilesThatNothingUses(t *testing.T) {
	policies := refusingBad()
	const partial = "\n-- app/patch.yaml --\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: x}, spec: {replicas: 2}}\n"
	const template = "\n-- app/template.yaml --\n{apiVersion: v1, kind: ConfigMap, metadata: {name: {{ x }}}}\n"
	files := policies + cm("app/cm.yaml", "a", "ok") + cm("app/beside.yaml", "b", "bad") + cm("app/UPPER.YAML", "c", "bad") + cm("app/beside.txt", "d", "bad") +
		"\n-- app/kustomization.yaml --\nresources: [cm.yaml]\n-- app/broken.yaml --\na: [b\n" + partial + template
	for path, name := range map[string]string{"app/beside.yaml": "b", "app/UPPER.YAML": "c", "app/beside.txt": "d"} {
		in := input("", files)
		in.Head.Under = []string{path}
		wantReport(t, mustScan(t, in), "new Deny validation "+path+" CREATE ConfigMap default/"+name+": too many [inForce]",
			"note : no kustomization, chart or deployer uses this file, so it is judged as it is written")
		in = input(files, files)
		in.Head.Under = []string{path}
		if r := mustScan(t, in); len(r.Findings) != 0 || r.Summary.Roots.Untouched != 1 {
			t.Errorf("%s: got %v of no change", path, r.Findings)
		}
	}
	judge := func(path string) *report.Report {
		in := input("", files)
		in.Head.Under = []string{path}
		return mustScan(t, in)
	}
	if r := judge("app/broken.yaml"); len(r.Findings) != 1 || r.Findings[0].Action != report.ActionError || r.Findings[0].Location.Path != "app/broken.yaml" {
		t.Errorf("a broken file: got %v", r.Findings)
	}
	if r := judge("app/patch.yaml"); len(r.Findings) != 0 || len(r.Indeterminate) != 1 || !strings.Contains(r.Indeterminate[0].Why, "probably a patch, or not used any more") {
		t.Errorf("a part of an object: got %v, %v", r.Findings, r.Indeterminate)
	}
	if r := judge("app/template.yaml"); len(r.Findings) != 0 || len(r.Indeterminate) != 1 || !strings.Contains(r.Indeterminate[0].Why, "a template, which is not rendered") {
		t.Errorf("a template: got %v, %v", r.Findings, r.Indeterminate)
	}
}

// TestNamedFilesThatDecide checks that a file in which no object is written decides all objects of the roots that
// read it.
func TestNamedFilesThatDecide(t *testing.T) {
	files := refusingBad() + cm("base/cm.yaml", "a", "bad") + cm("base/other.yaml", "b", "bad") + cm("prod/patch.yaml", "a", "bad") + `
-- base/kustomization.yaml --
resources: [cm.yaml, other.yaml]
-- prod/kustomization.yaml --
resources: [../base]
patches: [{path: patch.yaml}]
configMapGenerator: [{name: g, files: [g.txt]}]
-- prod/g.txt --
x
`
	for path, want := range map[string]int{
		"base/cm.yaml": 1, "base/kustomization.yaml": 2, "prod/kustomization.yaml": 2, "prod/patch.yaml": 2, "prod/g.txt": 2,
	} {
		in := input("", files)
		in.Head.Under = []string{path}
		if r := mustScan(t, in); len(r.Findings) != want {
			t.Errorf("%s: got %v, want %d findings", path, r.Findings, want)
		}
	}
}

// TestGivenPoliciesThatDoNotRender checks a configured path of policies that does not render and is no root of
// the scan: it is reported.
func TestGivenPoliciesThatDoNotRender(t *testing.T) {
	policies, _, _ := strings.Cut(gatedApp, "-- app/")
	broken := policies + "-- policies/k.yaml --\n" + twice
	in := input("", broken+cm("app/x.yaml", "x", "1"))
	in.Config.Roots, in.Config.Policies = []string{"app"}, []string{"policies"}
	found := false
	for _, i := range mustScan(t, in).Indeterminate {
		found = found || i.What == "policy" && i.Root == "policies" && strings.HasPrefix(i.Why, "the policies and context in policies do not render: ")
	}
	if !found {
		t.Error("nothing is said of policies that do not render")
	}
}

// TestWhatIsNotSimulatedIsNamed checks that webhooks that match a request are reported, and which of them have
// failurePolicy Fail.
func TestWhatIsNotSimulatedIsNamed(t *testing.T) {
	hooks := func(resource, operation, policy string) string {
		return `
-- hooks/w.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: inject}
webhooks:
- name: a.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {url: "https://a.example.com"}
` + policy + `
  rules:
  - {apiGroups: ["*"], apiVersions: ["*"], operations: [` + operation + `], resources: [` + resource + `]}
`
	}
	const named = "note : verdicts do not include what these do to a request: MutatingWebhookConfiguration inject"
	for _, test := range []struct{ hooks, object, want string }{
		{hooks("configmaps", "CREATE", "  failurePolicy: Ignore"), cm("app/x.yaml", "x", "1"), named},
		{hooks("configmaps", "CREATE", "  failurePolicy: Fail"), cm("app/x.yaml", "x", "1"), named + " (failurePolicy Fail: a.example.com)"},
		{hooks("configmaps", "CREATE", ""), cm("app/x.yaml", "x", "1"), named + " (failurePolicy Fail: a.example.com)"},
		{hooks("configmaps", "UPDATE", ""), cm("app/x.yaml", "x", "1"), ""},
		{hooks("secrets", "'*'", ""), cm("app/x.yaml", "x", "1"), ""},
		{hooks("configmaps/status, '*/scale'", "'*'", ""), cm("app/x.yaml", "x", "1"), ""},
		{hooks("configmaps/*", "'*'", "  failurePolicy: Ignore"), cm("app/x.yaml", "x", "1"), named},
		{hooks("'*'", "'*'", ""), "\n-- app/x.yaml --\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: other}\n", ""},
		{hooks("pods", "CREATE", ""), "\n-- app/x.yaml --\n" + rolling, named + " (failurePolicy Fail: a.example.com)"},
	} {
		base := test.hooks
		got := ""
		r := mustScan(t, input(base, base+test.object))
		var failing []report.Webhook
		if strings.Contains(test.want, "failurePolicy Fail") {
			failing = []report.Webhook{{Kind: "MutatingWebhookConfiguration", Configuration: "inject", Name: "a.example.com"}}
		}
		if diff := cmp.Diff(failing, r.Summary.Webhooks); diff != "" {
			t.Errorf("%s: webhooks of the summary (-want +got):\n%s", test.hooks, diff)
		}
		for _, said := range reportLines(r) {
			if strings.Contains(said, "verdicts do not include") {
				got += said
			}
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.hooks, got, test.want)
		}
	}
}

// TestWarningsOfTheServer checks that warnings of the server without effect are diagnostics of the root.
func TestWarningsOfTheServer(t *testing.T) {
	const service = `
-- app/s.yaml --
apiVersion: v1
kind: Service
metadata: {name: s}
spec: {externalIPs: [192.0.2.1], ports: [{port: 80}]}
`
	r := mustScan(t, input("", service))
	if d := remarks(r); len(d) != 1 || d[0].Root != "app" || !strings.Contains(d[0].Message, "externalIPs is deprecated") {
		t.Errorf("diagnostics %+v", r.Diagnostics)
	}
}

// TestNamedPathsThatNobodyApplies checks that a path which no deployer applies is not judged, and that this is
// reported.
func TestNamedPathsThatNobodyApplies(t *testing.T) {
	files := `
-- clusters/one/flux-system/gotk-sync.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {url: "https://example.com/org/fleet", ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {path: ./clusters/one, sourceRef: {kind: GitRepository, name: flux-system}, prune: true, interval: 1h}
` + cm("clusters/one/cm.yaml", "a", "1") + cm("loose/cm.yaml", "b", "1") + "-- loose/kustomization.yaml --\nresources: [cm.yaml]\n"
	for _, path := range []string{"loose", "loose/cm.yaml"} {
		in := input("", files)
		in.Head.Under, in.Head.Named = []string{path}, true
		if _, err := scanner.Scan(t.Context(), in); err == nil || !strings.Contains(err.Error(), "unclaimed: judge in .preadmit.yaml") {
			t.Errorf("%s: got %v", path, err)
		}
		in.Config.Unclaimed = config.UnclaimedJudge
		if r := mustScan(t, in); r.Summary.Requests != 1 {
			t.Errorf("%s: got %d requests", path, r.Summary.Requests)
		}
	}
}

// TestLinesOfRootsNotRendered checks that a HelmRelease with a missing chart has its line, whether the change
// touches it or not.
func TestLinesOfRootsNotRendered(t *testing.T) {
	release := func(name, version string) string {
		return `-- apps/` + name + `.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: ` + name + `, namespace: shop}
spec:
  interval: 1h
  chart:
    spec: {chart: shop, version: ` + version + `, sourceRef: {kind: HelmRepository, name: shop}}
`
	}
	rest := `-- cluster/apps.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec:
  interval: 1h
  path: apps
  prune: true
  sourceRef: {kind: GitRepository, name: flux-system}
-- apps/repository.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: shop, namespace: shop}
spec: {interval: 1h, url: "https://charts.example.com"}
` + release("same", "1.0.0")
	var got []string
	for _, i := range mustScan(t, input(rest+release("changed", "1.0.0"), rest+release("changed", "2.0.0"))).Indeterminate {
		got = append(got, fmt.Sprintf("%s:%d untouched %v", i.Location.Path, i.Location.StartLine, i.Untouched))
	}
	slices.Sort(got)
	if want := []string{"apps/changed.yaml:7 untouched false", "apps/same.yaml:7 untouched true"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
