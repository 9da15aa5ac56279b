package scanner_test

import (
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/config"
)

// application applies one directory of the repository. applicationSet is generated from clusters,
// which are unknown, and applies directories of a repository.
const (
	application = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: one, namespace: argocd}
spec:
  project: default
  destination: {server: https://kubernetes.default.svc, namespace: one}
  source: {repoURL: https://git.example.com/fleet, path: apps/one, targetRevision: HEAD}
`
	applicationSet = `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: all, namespace: argocd}
spec:
  generators:
  - clusters: {}
  template:
    metadata: {name: '{{name}}'}
    spec:
      project: default
      destination: {server: '{{server}}', namespace: all}
      source: {repoURL: REPOSITORY, path: 'policies/{{name}}', targetRevision: HEAD}
`
	policyOfWrongExpression = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}
  validations:
  - expression: has(object)
`
)

// TestUnevaluatedApplicationSets checks that a root without a known unit is judged by itself if an
// ApplicationSet that is not evaluated may apply it, and that the report notes this.
func TestUnevaluatedApplicationSets(t *testing.T) {
	const here, elsewhere = "https://git.example.com/fleet", "https://git.example.com/elsewhere"
	for name, test := range map[string]struct {
		set, unclaimed string
		judged         bool
		gap, remark    string
	}{
		"may apply it":         {set: here, judged: true, remark: "1 ApplicationSet is not evaluated and may apply roots that no deployer applies: these 1 are judged"},
		"may apply any":        {set: "'{{repo}}'", judged: true, remark: "1 ApplicationSet is not evaluated"},
		"is about another":     {set: elsewhere, gap: "no deployer of the repository applies this root", remark: "no deployer of the repository applies 1 root: policies/prod"},
		"there is none":        {gap: "no deployer of the repository applies this root", remark: "no deployer of the repository applies 1 root"},
		"configured to report": {set: here, unclaimed: config.UnclaimedReport, gap: "no deployer is known to apply this root, so it is not judged: 1 ApplicationSet is not evaluated"},
		"configured to ignore": {set: here, unclaimed: config.UnclaimedIgnore},
	} {
		t.Run(name, func(t *testing.T) {
			base := fstest.MapFS{}
			write := func(to fstest.MapFS, file, text string) { to[file] = &fstest.MapFile{Data: []byte(text)} }
			write(base, "argocd/one.yaml", application)
			if test.set != "" {
				write(base, "argocd/all.yaml", strings.Replace(applicationSet, "REPOSITORY", test.set, 1))
			}
			write(base, "apps/one/c.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")
			write(base, "policies/prod/c.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: all}\n")
			head := fstest.MapFS{}
			for file, text := range base {
				head[file] = text
			}
			write(head, "policies/prod/p.yaml", policyOfWrongExpression)
			r, err := scanner.Scan(t.Context(), scanner.Input{
				Base: &scanner.Tree{FS: base}, Head: scanner.Tree{FS: head}, Remotes: []string{here}, Config: config.Config{Unclaimed: test.unclaimed},
			})
			if err != nil {
				t.Fatal(err)
			}
			if judged := len(r.Findings) == 1 && r.Findings[0].Action == report.ActionDeny && r.Findings[0].Location.Path == "policies/prod/p.yaml"; judged != test.judged {
				t.Errorf("findings %+v, want the policy denied: %t", r.Findings, test.judged)
			}
			gap := ""
			for _, n := range r.Indeterminate {
				if n.Root == "policies/prod" {
					gap += n.Why
				}
			}
			if gap != "" && test.gap == "" || !strings.Contains(gap, test.gap) {
				t.Errorf("not judged: %q, want %q", gap, test.gap)
			}
			remarks := ""
			for _, d := range r.Diagnostics {
				remarks += d.Message + "\n"
			}
			if !strings.Contains(remarks, test.remark) {
				t.Errorf("remarks %q, want %q", remarks, test.remark)
			}
		})
	}
}

// TestUnevaluatedBefore checks that the note about ApplicationSets is untouched by a change that
// does not affect them.
func TestUnevaluatedBefore(t *testing.T) {
	const here = "https://git.example.com/fleet"
	base := fstest.MapFS{}
	for file, text := range map[string]string{
		"argocd/one.yaml": application, "argocd/all.yaml": strings.Replace(applicationSet, "REPOSITORY", here, 1),
		"apps/one/c.yaml":      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n",
		"policies/prod/c.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: all}\n",
	} {
		base[file] = &fstest.MapFile{Data: []byte(text)}
	}
	for file, untouched := range map[string]bool{"policies/prod/d.yaml": true, "argocd/more.yaml": false} {
		head := maps.Clone(base)
		head[file] = &fstest.MapFile{Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: d, namespace: all}\n")}
		if !untouched {
			head[file] = &fstest.MapFile{Data: []byte(strings.Replace(string(base["argocd/all.yaml"].Data), "name: all", "name: more", 1))}
		}
		r, err := scanner.Scan(t.Context(), scanner.Input{Base: &scanner.Tree{FS: base}, Head: scanner.Tree{FS: head}, Remotes: []string{here}})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, d := range r.Diagnostics {
			if strings.Contains(d.Message, "not evaluated") {
				found = true
				if d.Untouched != untouched {
					t.Errorf("with %s: untouched %t of %q", file, d.Untouched, d.Message)
				}
			}
		}
		if !found {
			t.Errorf("with %s: no remark", file)
		}
	}
}
