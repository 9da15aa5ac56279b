package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/preadmit/preadmit/internal/strictyaml"
	"github.com/preadmit/preadmit/report"
)

const header = "apiVersion: preadmit.dev/v1alpha1\nkind: ScanConfig\n"

func TestParse(t *testing.T) {
	got, err := Parse(".preadmit.yaml", []byte(header+`
failOn: warn
loadRestrictor: LoadRestrictionsRootOnly
roots: ["clusters/**", apps/*]
policies: [policies]
context: [cluster/state.yaml]
user: {name: "system:serviceaccount:argocd:argocd-application-controller"}
workloads: false
targets:
- name: production
  roots: [clusters/production/**]
  policies: [policies/production]
  context: [cluster/production.yaml]
  user:
    name: deployer
    groups: [gitops, "system:authenticated"]
- name: staging
  roots: [clusters/staging]
`))
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{
		APIVersion: report.APIVersion, Kind: Kind,
		FailOn: "warn", LoadRestrictor: "LoadRestrictionsRootOnly",
		Roots:    []string{"clusters/**", "apps/*"},
		Policies: []string{"policies"}, Context: []string{"cluster/state.yaml"},
		User: &User{
			Name:   "system:serviceaccount:argocd:argocd-application-controller",
			Groups: []string{"system:serviceaccounts", "system:serviceaccounts:argocd", "system:authenticated"},
		},
		Workloads: new(bool),
		Targets: []Target{
			{
				Name: "production", Roots: []string{"clusters/production/**"},
				Policies: []string{"policies/production"}, Context: []string{"cluster/production.yaml"},
				User: &User{Name: "deployer", Groups: []string{"gitops", "system:authenticated"}},
			},
			{Name: "staging", Roots: []string{"clusters/staging"}},
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Config{})); diff != "" {
		t.Errorf("Parse (-want +got):\n%s", diff)
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{"empty", "", []string{"1:1: the file is empty: it needs at least apiVersion and kind"}},
		{"only a comment", "# nothing\n", []string{"1:1: the file is empty: it needs at least apiVersion and kind"}},
		{"not a mapping", "- a\n", []string{"1:1: want a mapping, not a list"}},
		{"null", "null\n", []string{"1:1: want a mapping, not nothing"}},
		{"two documents", header + "---\nkind: Other\n", []string{"3:1: a second YAML document: the file must be one document"}},
		{"syntax", header + "roots: [a\n", []string{"3:1: not valid YAML: did not find expected ',' or ']'"}},
		{"indentation", header + "roots:\n\t- a\n", []string{"4:1: not valid YAML: found character that cannot start any token"}},
		{"no header", "failOn: deny\n", []string{
			"1:1: apiVersion: required: preadmit.dev/v1alpha1", "1:1: kind: required: ScanConfig"}},
		{"wrong header", "apiVersion: v1\nkind: ConfigMap\n", []string{
			`1:13: apiVersion: want preadmit.dev/v1alpha1, not "v1"`, `2:7: kind: want ScanConfig, not "ConfigMap"`}},
		{"unknown key", header + "failon: deny\n", []string{"3:1: failon: unknown key (did you mean failOn?)"}},
		{"far key", header + "zzzzzzzzzz: 1\n", []string{
			"3:1: zzzzzzzzzz: unknown key, known are apiVersion, kind, failOn, requirePolicies, loadRestrictor, roots, policies, context, user, applier, serviceNodePortRange, kubernetesVersion, featureGates, runtimeConfig, workloads, entries, self, sourcePaths, strictSubstitution, argocd, unclaimed, artifacts, crds, charts, targets"}},
		{"nested unknown key", header + "targets:\n- nmae: a\n  roots: [a]\n", []string{
			"4:3: targets[0].nmae: unknown key (did you mean name?)", "4:3: targets[0].name: required: a name for this target"}},
		{"wrong sources", header + "sourcePaths:\n  OCIRepository/flux-system/ok: ./kubernetes\n  flux-system: kubernetes\n  Bucket/a/b: ../x\n  Bucket/a/c: ''\n", []string{
			"4:3: sourcePaths: \"flux-system\" is not a source of Flux: want KIND/NAMESPACE/NAME, as OCIRepository/flux-system/flux-system",
			"6:15: sourcePaths.Bucket/a/b: \"../x\" is outside the repository: give a path relative to its top",
			"7:15: sourcePaths.Bucket/a/c: empty path"}},
		{"wrong self", header + "self:\n- OCIRepository/flux-system/ok\n- https://git.example.com/a/b\n- git@git.example.com:a/b.git\n- git.example.com/a/b\n- fleet\n- GitRepositry/flux-system/fleet\n- ''\n", []string{
			`8:3: self[4]: "fleet" is neither a source of Flux nor a URL: want KIND/NAMESPACE/NAME, as GitRepository/flux-system/fleet, or one like https://HOST/PATH`,
			`9:3: self[5]: "GitRepositry/flux-system/fleet" is neither a source of Flux nor a URL: want KIND/NAMESPACE/NAME, as GitRepository/flux-system/fleet, or one like https://HOST/PATH`,
			`10:3: self[6]: "" is neither a source of Flux nor a URL: want KIND/NAMESPACE/NAME, as GitRepository/flux-system/fleet, or one like https://HOST/PATH`}},
		{"wrong Argo CD", header + "argocd:\n  namespace: A\n  clusters:\n  - {name: a}\n  generators:\n  - {applicationSet: a}\n  - {kind: plugin}\n", []string{
			`4:14: argocd.namespace: "A" is not the name of a namespace: a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`,
			"6:5: argocd.clusters[0].server: required: the URL of its API server",
			"8:5: argocd.generators[0].kind: required: one of pullRequest, scmProvider, plugin, clusterDecisionResource",
			"9:5: argocd.generators[1].applicationSet: required: NAME or NAMESPACE/NAME of the ApplicationSet"}},
		{"wrong API", header + "runtimeConfig: {nonsense: true}\ntargets:\n- name: a\n  roots: [a]\n  runtimeConfig: {v1: true}\n", []string{
			`3:16: runtimeConfig: "nonsense=true" is not understood: want GROUP/VERSION=true, GROUP/VERSION/RESOURCE=true, api/beta=true or the like`,
			`7:18: targets[0].runtimeConfig: "v1=true" is not understood: want GROUP/VERSION=true, GROUP/VERSION/RESOURCE=true, api/beta=true or the like`}},
		{"repeated key", header + "failOn: deny\nfailOn: warn\n", []string{"4:1: failOn: repeated key, first on line 3"}},
		{"number", header + "failOn: 3\n", []string{"3:9: failOn: want a string, not the number 3 (quote it)"}},
		{"nothing", header + "failOn:\n", []string{"3:8: failOn: want a string, not nothing"}},
		{"string for a list", header + "roots: apps/*\n", []string{`3:8: roots: want a list, not the string "apps/*"`}},
		{"mapping in a list", header + "roots: [a, {b: c}]\n", []string{"3:12: roots[1]: want a string, not a mapping"}},
		{"list for a mapping", header + "user: [a]\n", []string{"3:7: user: want a mapping, not a list"}},
		{"alias", header + "roots: &r [a]\npolicies: *r\n", []string{"4:11: policies: aliases are not supported here: write the value out"}},
		{"workloads", header + "workloads: 'no'\n", []string{"3:12: workloads: want true or false, not the string \"no\""}},
		{"failOn", header + "failOn: denied\n", []string{`3:9: failOn: unknown value "denied" (did you mean deny?)`}},
		{"loadRestrictor", header + "loadRestrictor: none\n", []string{
			`3:17: loadRestrictor: unknown value "none", known are LoadRestrictionsNone, LoadRestrictionsRootOnly`}},
		{"globs", header + "roots: ['a[', '', /a, ../b]\n", []string{
			`3:9: roots[0]: invalid glob "a[": syntax error in "a["`, "3:15: roots[1]: empty glob",
			`3:19: roots[2]: glob "/a" is absolute: roots are relative to the top of the repository`,
			`3:23: roots[3]: glob "../b" leaves the repository`}},
		{"paths", header + "policies: [../x, '']\ncontext: [/etc]\n", []string{
			`3:12: policies[0]: "../x" is outside the repository: give a path relative to its top, or use the flag`,
			"3:18: policies[1]: empty path",
			`4:11: context[0]: "/etc" is outside the repository: give a path relative to its top, or use the flag`}},
		{"user", header + "user: {groups: ['']}\n", []string{
			"3:7: user.name: required: the name of the user who applies the objects", "3:17: user.groups[0]: empty group"}},
		{"targets", header + "targets:\n- name: ''\n  roots: [a]\n- name: a\n- name: a\n  roots: [b]\n", []string{
			"4:9: targets[0].name: required: a name for this target",
			"6:3: targets[1].roots: required: globs of the roots that are deployed to this target",
			`7:9: targets[2].name: repeated name "a", first on line 6`}},
		{"target of a wrong type", header + "targets: [production]\n", []string{
			`3:11: targets[0]: want a mapping, not the string "production"`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			config, err := Parse("c.yaml", []byte(test.in))
			if err == nil {
				t.Fatalf("no error, config %+v", config)
			}
			want := "c.yaml:" + strings.Join(test.want, "\nc.yaml:")
			if diff := cmp.Diff(want, err.Error()); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			if located := new(*strictyaml.Error); !errors.As(err, located) {
				t.Errorf("%T holds no *strictyaml.Error", err)
			}
		})
	}
}

func TestNewUser(t *testing.T) {
	tests := []struct {
		name   string
		groups []string
		want   []string
	}{
		{"alice", nil, []string{"system:authenticated"}},
		{"alice", []string{"admins"}, []string{"admins", "system:authenticated"}},
		{"alice", []string{"system:authenticated", "admins"}, []string{"system:authenticated", "admins"}},
		{"system:anonymous", nil, []string{"system:unauthenticated"}},
		{"system:serviceaccount:a:b", nil, []string{"system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated"}},
		{"system:serviceaccount:a:b", []string{"g"}, []string{"g", "system:authenticated"}},
		{"system:serviceaccount:a", nil, []string{"system:authenticated"}},
	}
	for _, test := range tests {
		got := NewUser(test.name, test.groups)
		if diff := cmp.Diff(User{Name: test.name, Groups: test.want}, got); diff != "" {
			t.Errorf("NewUser(%q, %q) (-want +got):\n%s", test.name, test.groups, diff)
		}
	}
}
