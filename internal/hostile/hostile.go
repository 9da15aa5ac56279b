// Package hostile makes git repositories that attack whoever scans them, and says what
// must come of it. The same table is run through the command, through scans in a jail,
// and through the service.
package hostile

import (
	"fmt"
	"slices"
	"strings"
)

// Case is a pull request of somebody who means harm. Its base has two roots, app and
// web, and a policy that denies ConfigMaps whose size is not 1. Its head breaks the
// policy in web, and does its harm in app or beside it.
type Case struct {
	Name string
	// Head writes the harm, over the files of the head.
	Head func(t *Tree, c *Canary)
	// Verdict is that of the report: "incomplete" where app can no longer be judged.
	Verdict string
	// Says is in the JSON of the report: what was recognized, in its words.
	Says string
	// Heavy takes long to make or to scan.
	Heavy bool
	// Fatal has a root, app or below, that takes a process longer than a few seconds: a
	// jail with such a limit ends it and names the root.
	Fatal bool
	// Patient is the verdict of a scan without limits of time; empty when it is the same.
	Patient string
}

// Told tells what of an output was not made safe to print: empty when all was. The output
// is that of a format without workflow commands.
func Told(output string) string {
	for line := range strings.Lines(output) {
		switch {
		case strings.ContainsAny(line, "\x1b\a\r"), strings.Contains(line, "\u202e"):
			return fmt.Sprintf("control characters: %q", line)
		case strings.HasPrefix(strings.TrimSpace(line), "::"), strings.Contains(line, "##["):
			return fmt.Sprintf("a workflow command: %q", line)
		}
	}
	return ""
}

// Finding is what the policy says about web, and must say in spite of everything.
const Finding = "the size is not 1"

const (
	policies = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: size}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]
  validations: [{expression: "!has(object.data) || !('size' in object.data) || object.data.size == '1'", message: ` + Finding + `}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: size}
spec: {policyName: size, validationActions: [Deny]}
`
	app = "resources: [cm.yaml]\n"
)

// configMap is a ConfigMap that the policy takes if size is 1.
func configMap(name string, size int) string {
	return fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: %q}, data: {size: \"%d\"}}\n", name, size)
}

// base writes what is there before.
func base(t *Tree) {
	t.Put("policies/size.yaml", policies)
	t.Put("app/kustomization.yaml", app)
	t.Put("app/cm.yaml", configMap("app", 1))
	t.Put("web/cm.yaml", configMap("web", 1))
}

// head writes the pull request.
func (c *Case) head(t *Tree, canary *Canary) {
	base(t)
	t.Put("web/cm.yaml", configMap("web", 2))
	c.Head(t, canary)
}

// Cases returns all attacks.
func Cases() []Case {
	return slices.Concat(bombs(), remotes(), programs(), escapes(), sizes(), expressions(), names())
}

// Sample returns five attacks, one of each kind that needs no large repository.
func Sample() []Case {
	return []Case{bombs()[0], remotes()[0], programs()[0], escapes()[0], names()[3]}
}

// kustomization is a Case whose harm is the kustomization of app.
func kustomization(name, says, text string) Case {
	return Case{Name: name, Verdict: "incomplete", Says: says, Head: func(t *Tree, c *Canary) {
		t.Put("app/kustomization.yaml", c.fill(text))
	}}
}

// fill puts the places of the canary into text.
func (c *Canary) fill(text string) string {
	return strings.NewReplacer("$ADDRESS", c.Address, "$FILE", c.File).Replace(text)
}
