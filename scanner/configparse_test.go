package scanner

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/internal/strictyaml"
	"github.com/preadmit/preadmit/report"
)

const configHead = "apiVersion: preadmit.dev/v1alpha1\nkind: ScanConfig\n"

func TestParseConfig(t *testing.T) {
	got, err := ParseConfig(".preadmit.yaml", []byte(configHead+`
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
		APIVersion: report.APIVersion, Kind: ConfigKind,
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
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ParseConfig (-want +got):\n%s", diff)
	}
}

func TestParseConfigErrors(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{"empty", "", []string{"1:1: the file is empty: it needs at least apiVersion and kind"}},
		{"only a comment", "# nothing\n", []string{"1:1: the file is empty: it needs at least apiVersion and kind"}},
		{"not a mapping", "- a\n", []string{"1:1: want a mapping, not a list"}},
		{"null", "null\n", []string{"1:1: want a mapping, not nothing"}},
		{"two documents", configHead + "---\nkind: Other\n", []string{"3:1: a second YAML document: the file must be one document"}},
		{"syntax", configHead + "roots: [a\n", []string{"3:1: not valid YAML: did not find expected ',' or ']'"}},
		{"indentation", configHead + "roots:\n\t- a\n", []string{"4:1: not valid YAML: found character that cannot start any token"}},
		{"no header", "failOn: deny\n", []string{
			"1:1: apiVersion: required: preadmit.dev/v1alpha1", "1:1: kind: required: ScanConfig"}},
		{"wrong header", "apiVersion: v1\nkind: ConfigMap\n", []string{
			`1:13: apiVersion: want preadmit.dev/v1alpha1, not "v1"`, `2:7: kind: want ScanConfig, not "ConfigMap"`}},
		{"unknown key", configHead + "failon: deny\n", []string{"3:1: failon: unknown key (did you mean failOn?)"}},
		{"far key", configHead + "zzzzzzzzzz: 1\n", []string{
			"3:1: zzzzzzzzzz: unknown key, known are apiVersion, kind, failOn, loadRestrictor, roots, policies, context, user, workloads, targets"}},
		{"nested unknown key", configHead + "targets:\n- nmae: a\n  roots: [a]\n", []string{
			"4:3: targets[0].nmae: unknown key (did you mean name?)", "4:3: targets[0].name: required: a name for this target"}},
		{"repeated key", configHead + "failOn: deny\nfailOn: warn\n", []string{"4:1: failOn: repeated key, first on line 3"}},
		{"number", configHead + "failOn: 3\n", []string{"3:9: failOn: want a string, not the number 3 (quote it)"}},
		{"nothing", configHead + "failOn:\n", []string{"3:8: failOn: want a string, not nothing"}},
		{"string for a list", configHead + "roots: apps/*\n", []string{`3:8: roots: want a list, not the string "apps/*"`}},
		{"mapping in a list", configHead + "roots: [a, {b: c}]\n", []string{"3:12: roots[1]: want a string, not a mapping"}},
		{"list for a mapping", configHead + "user: [a]\n", []string{"3:7: user: want a mapping, not a list"}},
		{"alias", configHead + "roots: &r [a]\npolicies: *r\n", []string{"4:11: policies: aliases are not supported here: write the value out"}},
		{"workloads", configHead + "workloads: 'no'\n", []string{"3:12: workloads: want true or false, not the string \"no\""}},
		{"failOn", configHead + "failOn: denied\n", []string{`3:9: failOn: unknown value "denied" (did you mean deny?)`}},
		{"loadRestrictor", configHead + "loadRestrictor: none\n", []string{
			`3:17: loadRestrictor: unknown value "none", known are LoadRestrictionsNone, LoadRestrictionsRootOnly`}},
		{"globs", configHead + "roots: ['a[', '', /a, ../b]\n", []string{
			`3:9: roots[0]: invalid glob "a[": syntax error in "a["`, "3:15: roots[1]: empty glob",
			`3:19: roots[2]: glob "/a" is absolute: roots are relative to the top of the repository`,
			`3:23: roots[3]: glob "../b" leaves the repository`}},
		{"paths", configHead + "policies: [../x, '']\ncontext: [/etc]\n", []string{
			`3:12: policies[0]: "../x" is outside the repository: give a path relative to its top, or use the flag`,
			"3:18: policies[1]: empty path",
			`4:11: context[0]: "/etc" is outside the repository: give a path relative to its top, or use the flag`}},
		{"user", configHead + "user: {groups: ['']}\n", []string{
			"3:7: user.name: required: the name of the user who applies the objects", "3:17: user.groups[0]: empty group"}},
		{"targets", configHead + "targets:\n- name: ''\n  roots: [a]\n- name: a\n- name: a\n  roots: [b]\n", []string{
			"4:9: targets[0].name: required: a name for this target",
			"6:3: targets[1].roots: required: globs of the roots that are deployed to this target",
			`7:9: targets[2].name: repeated name "a", first on line 6`}},
		{"target of a wrong type", configHead + "targets: [production]\n", []string{
			`3:11: targets[0]: want a mapping, not the string "production"`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			config, err := ParseConfig("c.yaml", []byte(test.in))
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
