package scanner_test

import (
	"strings"
	"testing"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/config"
)

// immutable has policies that distinguish CREATE, UPDATE and DELETE of ConfigMaps.
const immutable = `
-- policies/p.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: immutable}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [configmaps]}]
  validations:
  - expression: "request.operation != 'CREATE'"
    message: created
  - expression: "request.operation != 'UPDATE' || object.data == oldObject.data"
    messageExpression: "'was ' + oldObject.data.a"
  - expression: "request.operation != 'DELETE'"
    message: deleted
-- policies/b.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: immutable}
spec: {policyName: immutable, validationActions: [Deny]}
`

// cm returns a file with a ConfigMap.
func cm(path, name, value string) string {
	return "-- " + path + " --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: {a: \"" + value + "\"}\n"
}

// denied returns the line of a finding about the ConfigMap of cm.
func denied(path, operation, message string) string {
	return "new Deny validation " + path + " " + operation + " ConfigMap default/x: " + message + " [inForce]"
}

// An object is identified by group, kind, namespace and name, wherever its manifest is.
func TestMovedObjects(t *testing.T) {
	const a, b, c, d = "a/x.yaml", "b/x.yaml", "c/x.yaml", "d/x.yaml"
	const unknown = ": which of them became which is not known, so what differs is judged each way"
	broken := "-- b/k.yaml --\n{apiVersion: v1, kind: ConfigMap, kind: ConfigMap, metadata: {name: k}}\n"
	other := cm("a/other.yaml", "other", "1")
	for name, test := range map[string]struct {
		base, head string
		want       []string
	}{
		"moved":              {cm(a, "x", "1"), cm(b, "x", "1"), nil},
		"moved and changed":  {cm(a, "x", "1"), cm(b, "x", "2"), []string{denied(b, "UPDATE", "was 1")}},
		"to a directory of":  {other + cm(a, "x", "1"), other + cm("a/b/x.yaml", "x", "2"), []string{denied("a/b/x.yaml", "UPDATE", "was 1")}},
		"to a root that was": {cm(a, "x", "1") + cm("b/z.yaml", "z", "1"), cm(b, "x", "2") + cm("b/z.yaml", "z", "1"), []string{denied(b, "UPDATE", "was 1")}},
		"between clusters": {cm(a, "x", "1") + cm("a/z.yaml", "z", "1") + cm("b/z.yaml", "z", "2"), cm("a/z.yaml", "z", "1") + cm(b, "x", "1") + cm("b/z.yaml", "z", "2"),
			[]string{denied(a, "DELETE", "deleted"), denied(b, "CREATE", "created")}},
		"with its namespace":  {cm(a, "x", "1"), strings.Replace(cm(b, "x", "2"), "{name: x}", "{name: x, namespace: default}", 1), []string{denied(b, "UPDATE", "was 1")}},
		"out of a list of it": {cm(a, "x", "1") + cm("a/z.yaml", "x", "3"), cm(b, "x", "2"), []string{denied(b, "UPDATE", "was 1"), denied(b, "UPDATE", "was 3")}},
		"two to one": {cm(a, "x", "1") + cm(b, "x", "2"), cm(c, "x", "3"), []string{
			denied(a, "DELETE", "deleted"), denied(b, "DELETE", "deleted"),
			denied(c, "UPDATE", "was 1"), denied(c, "UPDATE", "was 2"),
			"note : ConfigMap/default/x is gone from a, b and new in c" + unknown}},
		"two to an equal one": {cm(a, "x", "1") + cm(b, "x", "2"), cm(c, "x", "2"), []string{
			denied(a, "DELETE", "deleted"),
			"note : ConfigMap/default/x is gone from a, b and new in c" + unknown}},
		"one to two": {cm(a, "x", "1"), cm(b, "x", "2") + cm(c, "x", "3"), []string{
			denied(b, "CREATE", "created"), denied(b, "UPDATE", "was 1"),
			denied(c, "CREATE", "created"), denied(c, "UPDATE", "was 1"),
			"note : ConfigMap/default/x is gone from a and new in b, c" + unknown}},
		"one to an equal one and another": {cm(a, "x", "1"), cm(b, "x", "2") + cm(c, "x", "1"), []string{
			denied(b, "CREATE", "created"), denied(b, "UPDATE", "was 1"),
			"note : ConfigMap/default/x is gone from a and new in b, c" + unknown}},
		"two to two": {cm(a, "x", "1") + cm(b, "x", "2"), cm(c, "x", "2") + cm(d, "x", "3"), []string{
			denied(d, "UPDATE", "was 1"),
			"note : ConfigMap/default/x is gone from a, b and new in c, d" + unknown}},
		"to a root that did not render": {cm(a, "x", "1") + broken, cm(b, "x", "2"), []string{
			denied(b, "CREATE", "created"), denied(b, "UPDATE", "was 1"),
			"note : ConfigMap/default/x is gone from a and new in b" + unknown,
			"note b: this root did not render before the change (b/k.yaml:1: invalid YAML: key \"kind\" already set in map), so all of its objects count as new"}},
		"overlays that stay, and one more": {cm(a, "x", "1") + cm(b, "x", "2"), cm(a, "x", "1") + cm(b, "x", "2") + cm(c, "x", "3"), []string{denied(c, "CREATE", "created")}},
		"overlays that stay, and one less": {cm(a, "x", "1") + cm(b, "x", "2"), cm(a, "x", "1"), []string{denied(b, "DELETE", "deleted")}},
	} {
		t.Run(name, func(t *testing.T) {
			wantReport(t, mustScan(t, input(immutable+test.base, immutable+test.head)), test.want...)
		})
	}
}

// TestMovedBetweenTargets checks that an object which moves from one cluster to another is deleted
// in the first and created in the second.
func TestMovedBetweenTargets(t *testing.T) {
	in := input(immutable+cm("a/x.yaml", "x", "1"), immutable+cm("b/x.yaml", "x", "2"))
	in.Config.Targets = []config.Target{{Name: "a", Roots: []string{"a", "policies"}}, {Name: "b", Roots: []string{"b", "policies"}}}
	wantReport(t, mustScan(t, in), denied("a/x.yaml", "DELETE", "deleted"), denied("b/x.yaml", "CREATE", "created"))
}

// TestMovedFromWhatIsNotJudged checks that an object from a root that is not selected is updated.
// An object that leaves the selection cannot be distinguished from a deleted one.
func TestMovedFromWhatIsNotJudged(t *testing.T) {
	in := input(immutable+cm("a/x.yaml", "x", "1"), immutable+cm("b/x.yaml", "x", "2"))
	in.Config.Roots = []string{"b"}
	wantReport(t, mustScan(t, in), denied("b/x.yaml", "UPDATE", "was 1"))
	in.Config.Roots = []string{"a"}
	wantReport(t, mustScan(t, in), denied("a/x.yaml", "DELETE", "deleted"))
}

// TestMovedPolicies checks that a policy which moves to another file is unchanged, and so are the
// API server's messages about it.
func TestMovedPolicies(t *testing.T) {
	broken := strings.Replace(limitPolicy, "object == null || object.spec.replicas <= 3", "object.spec.", 1)
	moved := strings.Replace(broken, "-- policies/", "-- rules/", 1)
	app := "-- app/a.yaml --\n" + deployment("a", 5)
	for _, f := range mustScan(t, input(broken+app, moved+app)).Findings {
		t.Errorf("a broken policy that moved is a finding: %+v", f)
	}
	r := mustScan(t, input(broken+app, strings.Replace(moved, "at most 3", "at most three", 1)+app))
	if len(r.Findings) != 1 || r.Findings[0].Status != report.StatusExisting || r.Findings[0].Operation != "UPDATE" {
		t.Errorf("a broken policy that moved and changed: %q", reportLines(r))
	}
	fixed := strings.Replace(limitPolicy, "-- policies/", "-- rules/", 1)
	r = mustScan(t, input(broken+app, fixed+app))
	resolved := 0
	for _, f := range r.Findings {
		if f.Status == report.StatusResolved {
			resolved++
			if f.Root != "policies" || f.Location.Path != "policies/limit.yaml" || f.Location.Tree != "base" {
				t.Errorf("the resolved finding is in root %s, at %s of %s", f.Root, f.Location.Path, f.Location.Tree)
			}
		}
	}
	if resolved != 1 {
		t.Errorf("%d resolved: %q", resolved, reportLines(r))
	}
}

// TestRepeatedObjects checks that several manifests of one root can define one object.
func TestRepeatedObjects(t *testing.T) {
	const a, b, c = "app/a.yaml", "app/b.yaml", "app/c.yaml"
	for name, test := range map[string]struct {
		base, head string
		want       []string
	}{
		"one more":        {cm(b, "x", "1"), cm(b, "x", "1") + cm(c, "x", "2"), []string{denied(c, "UPDATE", "was 1")}},
		"one before":      {cm(b, "x", "1"), cm(a, "x", "2") + cm(b, "x", "1"), []string{denied(a, "UPDATE", "was 1")}},
		"one more, equal": {cm(b, "x", "1"), cm(b, "x", "1") + cm(c, "x", "1"), nil},
		"one less":        {cm(a, "x", "1") + cm(b, "x", "2"), cm(a, "x", "1"), []string{denied(a, "UPDATE", "was 2")}},
		"one less, equal": {cm(a, "x", "1") + cm(b, "x", "1"), cm(a, "x", "1"), nil},
		"two new":         {"", cm(a, "x", "1") + cm(b, "x", "2"), []string{denied(a, "CREATE", "created"), denied(b, "CREATE", "created")}},
		"two gone":        {cm(a, "x", "1") + cm(b, "x", "2"), "", []string{denied(a, "DELETE", "deleted"), denied(b, "DELETE", "deleted")}},
	} {
		t.Run(name, func(t *testing.T) {
			wantReport(t, mustScan(t, input(immutable+test.base, immutable+test.head)), test.want...)
		})
	}
}
