package scanner_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/report"
)

// quoting is a policy on Secrets and ConfigMaps whose message is messageExpression.
func quoting(validation, messageExpression string) string {
	check, _ := json.Marshal(validation)
	message := ""
	if messageExpression != "" {
		quoted, _ := json.Marshal(messageExpression)
		message = "\n    messageExpression: " + string(quoted)
	}
	return `
-- policies/policy.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: quoting}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE, DELETE], resources: [secrets, configmaps]}
  variables:
  - {name: plain, expression: "object.data.password"}
  validations:
  - expression: ` + string(check) + message + `
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: quoting}
spec: {policyName: quoting, validationActions: [Deny]}
`
}

func passwordSecret(field, value string) string {
	return `
-- app/secret.yaml --
apiVersion: v1
kind: Secret
metadata: {name: db, namespace: default}
` + field + `:
  password: ` + value + `
`
}

// messagesOf returns the messages of policies.
func messagesOf(r *report.Report) []string {
	var out []string
	for _, f := range r.Findings {
		out = append(out, f.Message)
	}
	return out
}

// TestMessagesDoNotQuoteSecrets checks that values are masked whatever an expression makes of them,
// and however short or common they are.
func TestMessagesDoNotQuoteSecrets(t *testing.T) {
	const no = "object.metadata.name == 'other'"
	for _, tt := range []struct{ name, value, validation, expression, want string }{
		{"a field", "aHVudGVyMg==", no, "'password is ' + object.data.password + ' here'", "password is *** here"},
		{"a variable", "aHVudGVyMg==", no, "'password is ' + variables.plain", "password is ***"},
		{"twice", "aHVudGVyMg==", no, "variables.plain + ' = ' + object.data.password", "*** = ***"},
		{"short", "YQ==", no, "'a password like ' + variables.plain + ' is bad'", "a password like *** is bad"},
		{"a word of the message", `"true"`, no, "'it must be true, not ' + variables.plain", "it must be true, not ***"},
		{"not quoted", `"true"`, no, "'it must be true'", "it must be true"},
		{"a part", "aHVudGVyMg==", no, "'it begins with ' + variables.plain.substring(0, 4) + ', which is bad'", "it begins with ***, which is bad"},
		{"changed", "aHVudGVyMg==", no, "'upper ' + variables.plain.upperAscii()", "upper ***"},
		{"its length", "aHVudGVyMg==", no, "'it has ' + string(size(variables.plain)) + ' characters'", "it has *** characters"},
		{"its parts", "aHVudGVyMg==", no, "'parts ' + variables.plain.split('V')[0] + ' and ' + variables.plain.split('V')[1]", "***"},
		{"formatted", "aHVudGVyMg==", no, "'config %s, %s.'.format([object.data.password, object.data])", `config ***, {"password":"***"}.`},
		{"the expression", "aHVudGVyMg==", "object.data.password == 'x'", "", "failed expression: object.data.password == 'x'"},
		{"an error", "aHVudGVyMg==", "int(variables.plain) > 3", "", "expression 'int(variables.plain) > 3' resulted in error: type conversion error from 'string' to 'int'"},
		{"its key", "aHVudGVyMg==", no, "'key ' + object.data.map(k, k)[0]", "key password"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			report := mustScan(t, input("", passwordSecret("data", tt.value)+quoting(tt.validation, tt.expression)))
			if diff := cmp.Diff([]string{tt.want}, messagesOf(report)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if doc, _ := json.Marshal(report); len(tt.value) > 5 && strings.Contains(string(doc), tt.value) {
				t.Errorf("the report shows the value: %s", doc)
			}
		})
	}
}

// TestStringDataIsNotQuoted checks stringData, which the API server copies to data before policies
// see it.
func TestStringDataIsNotQuoted(t *testing.T) {
	report := mustScan(t, input("", passwordSecret("stringData", "hunter2")+quoting("false", "'it is ' + object.data.password + ', ' + variables.plain")))
	if diff := cmp.Diff([]string{"it is ***, ***"}, messagesOf(report)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOldSecretsAreNotQuoted checks values that a change replaces and deletes.
func TestOldSecretsAreNotQuoted(t *testing.T) {
	policy := quoting("false", "'was ' + oldObject.data.password + ', is ' + (object == null ? 'gone' : variables.plain)")
	before := passwordSecret("data", "aHVudGVyMg==")
	for head, want := range map[string]string{
		passwordSecret("data", "aHVudGVyMw=="): "was ***, is ***",
		"":                                     "was ***, is gone",
	} {
		report := mustScan(t, input(before+policy, head+policy))
		if diff := cmp.Diff([]string{want}, messagesOf(report)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// TestParamsThatAreSecretsAreNotQuoted checks a Secret as the param for a ConfigMap, whose own data
// may be shown.
func TestParamsThatAreSecretsAreNotQuoted(t *testing.T) {
	policy := strings.NewReplacer("spec:\n  matchConstraints", "spec:\n  paramKind: {apiVersion: v1, kind: Secret}\n  matchConstraints",
		"validationActions: [Deny]", "validationActions: [Deny], paramRef: {name: db, namespace: default, parameterNotFoundAction: Deny}",
		"[secrets, configmaps]", "[configmaps]",
	).Replace(quoting("false", "params.data.password + ' and ' + object.data.color"))
	const configMap = "\n-- app/map.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: default}\ndata: {color: hunter-green}\n"
	report := mustScan(t, input("", passwordSecret("data", "aHVudGVyMg==")+configMap+policy))
	if diff := cmp.Diff([]string{"*** and hunter-green"}, messagesOf(report)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestConfigMapsAreQuoted checks that values of ConfigMaps are shown, even if a Secret has the
// same.
func TestConfigMapsAreQuoted(t *testing.T) {
	policy := strings.ReplaceAll(quoting("false", "'color ' + object.data.color"), "[secrets, configmaps]", "[configmaps]")
	const configMap = "\n-- app/map.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: default}\ndata: {color: hunter2}\n"
	report := mustScan(t, input("", passwordSecret("stringData", "hunter2")+configMap+policy))
	if diff := cmp.Diff([]string{"color hunter2"}, messagesOf(report)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAppliedSecretsAreNotQuoted checks the annotation in which kubectl keeps the whole object.
func TestAppliedSecretsAreNotQuoted(t *testing.T) {
	manifest := strings.Replace(passwordSecret("data", "aHVudGVyMg=="), "{name: db,",
		`{name: db, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"stringData":{"password":"hunter2"}}'},`, 1)
	report := mustScan(t, input("", manifest+quoting("false", "'annotations ' + object.metadata.annotations.map(k, object.metadata.annotations[k])[0]")))
	if diff := cmp.Diff([]string{"annotations ***"}, messagesOf(report)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRefusedSecretsAreNotQuoted checks server-side apply, whose errors quote values that are not
// strings.
func TestRefusedSecretsAreNotQuoted(t *testing.T) {
	const head = `
-- app/secret.yaml --
apiVersion: v1
kind: Secret
metadata: {name: db, namespace: default}
stringData: {pin: 123456789, part: 1234.5678, list: [in-a-list, "two \"words\""], map: {a: in-a-map}, short: 12345}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c, namespace: default}
data: {number: 987654321}
`
	report := mustScan(t, input("", head))
	doc, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	said := strings.Join(messagesOf(report), "\n")
	for _, text := range []string{"123456789", "1234.5678", "in-a-list", "two ", "words", "in-a-map"} {
		if strings.Contains(string(doc), text) {
			t.Errorf("the report shows %s: %s", text, said)
		}
	}
	for _, text := range []string{".stringData.pin: expected string, got &value.valueUnstructured{Value:***}", "Value:12345}", "Value:987654321}"} {
		if !strings.Contains(said, text) {
			t.Errorf("no %s in %s", text, said)
		}
	}
}

// TestRenderingErrorsDoNotQuoteSecrets checks kustomize, whose errors quote invalid literals.
func TestRenderingErrorsDoNotQuoteSecrets(t *testing.T) {
	const head = `
-- app/kustomization.yaml --
secretGenerator:
- name: db
  literals:
  - hunter2-without-a-key
configMapGenerator:
- name: c
  literals:
  - color=green
`
	report := mustScan(t, input("", head))
	if len(report.Findings) == 0 {
		t.Fatalf("it renders: %q", reportLines(report))
	}
	doc, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(doc), "hunter2") || !strings.Contains(report.Findings[0].Message, "***") {
		t.Errorf("the report shows the literal, or says nothing of it: %s", doc)
	}
}

// TestComparingDoesNotQuoteSecrets checks errors of rendering of both trees, and malformed
// separators, which are quoted and truncated.
func TestComparingDoesNotQuoteSecrets(t *testing.T) {
	const fine = "\n-- app/map.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
	const generator = "\n-- app/kustomization.yaml --\nsecretGenerator:\n- name: s\n  literals:\n  - hunter2topsecret\n"
	const inBrackets = "\n-- app/kustomization.yaml --\nsecretGenerator:\n- name: s\n  literals: [\"hunter2topsecret\", a=hunter2other]\n"
	secret := passwordSecret("stringData", "|")
	for name, broken := range map[string]string{
		"a literal without a key":  generator,
		"a literal in brackets":    inBrackets,
		"literals over two lines":  strings.Replace(inBrackets, ", ", ",\n    ", 1),
		"no separator":             secret + "--- hunter2topsecret\n",
		"no separator, no blank":   secret + "---hunter2topsecret\n",
		"no separator, with a key": secret + "--- hunter2=" + strings.Repeat("topsecret", 9) + "\n",
		"no separator, long":       secret + "---" + strings.Repeat("hunter2", 9) + "\n",
		"behind no separator":      secret + "--- what\nhunter2topsecret\n",
	} {
		head, base := mustCompare(t, input(fine, broken)), mustCompare(t, input(broken, fine))
		if len(head.Indeterminate)+len(head.Diagnostics) == 0 || len(base.Indeterminate)+len(base.Diagnostics) == 0 {
			t.Errorf("%s: nothing is said of it", name)
		}
		for _, said := range []any{head, base, mustScan(t, input(fine, broken)), mustScan(t, input(broken, fine))} {
			doc, err := json.Marshal(said)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(doc), "hunter2") || strings.Contains(string(doc), "topsecret") {
				t.Errorf("%s: it shows:\n%s", name, doc)
			}
		}
	}
}
