package hostile

import (
	"fmt"
	"slices"
	"strings"
)

// Case is an attack by a pull request. Its base has two roots, app and web, and a policy
// that denies ConfigMaps whose size is not 1. Its head violates the policy in web, and
// attacks in app or beside it.
type Case struct {
	Name string
	// Head writes the attack over the files of the head.
	Head func(t *Tree, c *Canary)
	// Verdict is the verdict of the report: "incomplete" where app cannot be judged.
	Verdict string
	// Reports is a text that the report must contain.
	Reports string
	// Heavy is set if creating or scanning it takes long.
	Heavy bool
	// Large is set if the repository itself is large, so that reading it takes long, too.
	Large bool
	// Fatal is set if a root, app or below, takes longer than a few seconds: a jail with such a
	// limit ends the process and names the root.
	Fatal bool
	// Unlimited is the verdict of a scan without a time limit; "" means the same verdict.
	Unlimited string
	// Alone is set if the head has only the attack, and does not violate the policy.
	Alone bool
}

// Unsafe describes what is not safe to print in an output; it returns "" if everything is. The
// output is of a format without workflow commands.
func Unsafe(output string) string {
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

// Finding is the message of the policy about web, which every report must contain.
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

// configMap returns a ConfigMap that the policy admits if size is 1.
func configMap(name string, size int) string {
	return fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: %q}, data: {size: \"%d\"}}\n", name, size)
}

// base writes the files of the base.
func base(t *Tree) {
	t.Put("policies/size.yaml", policies)
	t.Put("app/kustomization.yaml", app)
	t.Put("app/cm.yaml", configMap("app", 1))
	t.Put("web/cm.yaml", configMap("web", 1))
}

// head writes the files of the head.
func (c *Case) head(t *Tree, canary *Canary) {
	base(t)
	if !c.Alone {
		t.Put("web/cm.yaml", configMap("web", 2))
	}
	c.Head(t, canary)
}

// kinds returns all attacks by their kind.
func kinds() [][]Case {
	return [][]Case{bombs(), charts(), jsonnet(), remotes(), programs(), escapes(), sizes(), expressions(), names()}
}

// Cases returns all attacks.
func Cases() []Case { return slices.Concat(kinds()...) }

// OfEachKind returns the first quick attack of each kind, and all attacks by names, since these
// attack the output.
func OfEachKind() []Case {
	var all []Case
	for _, kind := range kinds() {
		if i := slices.IndexFunc(kind, func(c Case) bool { return !c.Heavy }); i >= 0 {
			all = append(all, kind[i])
		}
	}
	return append(all, names()[1:]...)
}

// Sample returns five attacks, one of each kind that needs no large repository.
func Sample() []Case {
	return []Case{bombs()[0], remotes()[0], programs()[0], escapes()[0], names()[3]}
}

// kustomization returns a Case whose attack is the kustomization of app.
func kustomization(name, reports, text string) Case {
	return Case{Name: name, Verdict: "incomplete", Reports: reports, Head: func(t *Tree, c *Canary) {
		t.Put("app/kustomization.yaml", c.fill(text))
	}}
}

// fill replaces $ADDRESS and $FILE in text by those of the canary.
func (c *Canary) fill(text string) string {
	return strings.NewReplacer("$ADDRESS", c.Address, "$FILE", c.File).Replace(text)
}
