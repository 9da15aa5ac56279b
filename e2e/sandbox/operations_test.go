package sandbox

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// kind is one of the kinds whose operations testdata/operations.txtar tests.
type kind struct {
	name, resource string
	// spec has the fields of its spec besides match, which is the field with matchPolicy and rules.
	spec, match, rules string
	columns            string
	// wrong is a patch of the spec that is refused with the text refusal. more is a patch that adds the
	// value a at shown.
	wrong, refusal, more, shown string
	status                      bool
}

const (
	rulesOfPolicy = `, "resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]`
	variable      = `{"spec":{"variables":[{"name":"a","expression":"1"}]}}`
	variables     = "{.spec.variables[*].name}"
	selector      = `{"spec":{"matchResources":{"namespaceSelector":{"matchLabels":{"of":"a"}}}}}`
	selected      = "{.spec.matchResources.namespaceSelector.matchLabels.of}"
)

func kindsOfPolicies() []kind {
	return []kind{
		{
			name: "ValidatingAdmissionPolicy", resource: "validatingadmissionpolicies", status: true,
			spec: `"validations": [{"expression": "true"}]`, match: "matchConstraints", rules: rulesOfPolicy, columns: "NAME +VALIDATIONS +PARAMKIND +AGE",
			wrong: `{"spec":{"validations":[{"expression":"objet"}]}}`, refusal: "undeclared reference to 'objet'", more: variable, shown: variables,
		},
		{
			name: "ValidatingAdmissionPolicyBinding", resource: "validatingadmissionpolicybindings",
			spec: `"policyName": "ops-none", "validationActions": ["Deny"]`, match: "matchResources", columns: "NAME +POLICYNAME +PARAMREF +AGE",
			wrong: `{"spec":{"validationActions":["Deny","Warn"]}}`, refusal: "must not contain both Deny and Warn", more: selector, shown: selected,
		},
		{
			name: "MutatingAdmissionPolicy", resource: "mutatingadmissionpolicies",
			spec:  `"reinvocationPolicy": "Never", "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{}"}}]`,
			match: "matchConstraints", rules: rulesOfPolicy, columns: "NAME +MUTATIONS +PARAMKIND +AGE",
			wrong:   `{"spec":{"mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"objet"}}]}}`,
			refusal: "undeclared reference to 'objet'", more: variable, shown: variables,
		},
		{
			name: "MutatingAdmissionPolicyBinding", resource: "mutatingadmissionpolicybindings",
			spec: `"policyName": "ops-none"`, match: "matchResources", columns: "NAME +POLICYNAME +PARAMREF +AGE",
			wrong: `{"spec":{"policyName":""}}`, refusal: "spec.policyName: Required value", more: selector, shown: selected,
		},
	}
}

// operations runs testdata/operations.txtar for each kind.
func operations(t *testing.T, p testscript.Params) {
	for _, k := range kindsOfPolicies() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel() // a watch waits for seconds without using the processor
			of := p
			of.Dir, of.Files = "", []string{"testdata/operations.txtar"}
			of.Condition = func(name string) (bool, error) { return name == "status" && k.status, nil }
			of.Setup = func(env *testscript.Env) error {
				const group = "/apis/admissionregistration.k8s.io/v1/"
				for name, value := range map[string]string{
					"KIND": k.name, "RESOURCE": k.resource, "ALL": group + k.resource, "WATCH": group + "watch/" + k.resource,
					"SPEC": k.spec, "MATCH": k.match, "RULES": k.rules, "COLUMNS": k.columns,
					"WRONG": k.wrong, "REFUSAL": strings.ReplaceAll(k.refusal, "'", "."), "MORE": k.more, "SHOWN": k.shown,
				} {
					env.Setenv(name, value)
				}
				return p.Setup(env)
			}
			testscript.Run(t, of)
		})
	}
}
