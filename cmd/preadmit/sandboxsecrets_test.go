package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/sandbox"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/policy"
)

const secretsTree = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: quotes}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [secrets]}]
  validations: [{expression: "false", messageExpression: "'got ' + object.data.token.lowerAscii()"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: quotes}
spec: {policyName: quotes, validationActions: [Deny]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: warns}
spec: {policyName: quotes, validationActions: [Warn]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: param}
spec:
  paramKind: {apiVersion: v1, kind: Secret}
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  validations: [{expression: "false", messageExpression: "'got ' + params.data.token.lowerAscii()"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: param}
spec: {policyName: param, paramRef: {name: db, namespace: shop, parameterNotFoundAction: Deny}, validationActions: [Deny]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: plain}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  validations: [{expression: "true"}]
---
apiVersion: v1
kind: Secret
metadata: {name: db, namespace: shop}
data: {token: aHVudGVyMg==}
---
apiVersion: v1
kind: Secret
metadata: {name: numbers, namespace: shop}
stringData: {token: 424242}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: about, namespace: shop}
`

// TestSandboxSecrets: no output has values of Secrets, neither in messages of a scan nor of the
// server, whether both agree or not.
func TestSandboxSecrets(t *testing.T) {
	d, err := scanner.Deploy(t.Context(), scanner.Input{Head: scanner.Tree{FS: fstest.MapFS{"apps/all.yaml": {Data: []byte(secretsTree)}}}})
	if err != nil {
		t.Fatal(err)
	}
	l := sandbox.NewLoaded(d.Clusters[0])
	find := func(key string) *sandbox.Result {
		for i := range l.Results {
			if l.Results[i].Key.String() == key {
				return &l.Results[i]
			}
		}
		t.Fatalf("there is no %s", key)
		return nil
	}
	const denies, warns = "ValidatingAdmissionPolicy 'quotes' with binding 'quotes' denied request: ", "Validation failed for ValidatingAdmissionPolicy 'quotes' with binding 'warns': "
	db, numbers, about := find("Secret/shop/db"), find("Secret/shop/numbers"), find("ConfigMap/shop/about")
	if raw := db.Scan(); !strings.HasSuffix(raw.Message, denies+"got ahvudgvymg==") || len(raw.Warnings) != 1 {
		t.Fatalf("a scan says %+v", raw)
	}
	refuse := func(message string, warnings ...string) policy.Verdict {
		return policy.Verdict{Code: 422, Message: message, Warnings: warnings}
	}
	for _, test := range []struct {
		name   string
		object *sandbox.Result
		server policy.Verdict
		want   string
	}{
		{"as a scan", db, db.Scan(), `422 secrets "db" is forbidden: ` + denies + "got *** (warnings: " + warns + "got ***)"},
		{"in other words", db, refuse("x: "+denies+"was hunter2", warns+"ahvudgvymg=="), "422 x: " + denies + "*** (warnings: " + warns + "***)"},
		{"by a changing policy", db, refuse("policy 'm' with binding 'm' denied request: ahvudgvymg=="), "422 policy 'm' with binding 'm' denied request: ***"},
		{"by no policy", db, refuse(`Invalid value: "hunter2"`), `422 Invalid value: "***"`},
		{"in base64", db, refuse("illegal aHVudGVyMg==: no"), "422 illegal ***: no"},
		{"of no text", numbers, refuse("expected string, got 424242"), "422 ***"},
		{"of a param, as a scan", about, about.Scan(), `422 configmaps "about" is forbidden: ValidatingAdmissionPolicy 'param' with binding 'param' denied request: got ***`},
		{"of a param", about, refuse("ValidatingAdmissionPolicy 'param' denied request: ahvudgvymg=="), "422 ValidatingAdmissionPolicy 'param' denied request: ***"},
		{"of a policy from before", about, refuse("ValidatingAdmissionPolicy 'kept' denied request: ahvudgvymg=="), "422 ValidatingAdmissionPolicy 'kept' denied request: ***"},
		{"of no Secret", about, refuse("ValidatingAdmissionPolicy 'plain' denied request: no"), "422 ValidatingAdmissionPolicy 'plain' denied request: no"},
	} {
		test.object.Answer = test.server
		if got := test.object.Text(test.server); got != test.want {
			t.Errorf("%s: it says\n%s\nwant\n%s", test.name, got, test.want)
		}
		if why := test.object.Why(); !strings.Contains(test.want, why) {
			t.Errorf("%s: refused with %s", test.name, why)
		}
	}
	db.Answer = db.Scan()
	var out bytes.Buffer
	l.Write(&out, d, false)
	v := sandbox.Verified{Differences: []sandbox.Difference{{Result: db, Server: db.Text(db.Answer), Scan: db.Text(db.Scan())}}}
	v.Write(&out, d.Report)
	(&sandbox.Update{Loaded: l, Deleted: []sandbox.Result{*db}}).Write(&out, d, false)
	if text := out.String(); strings.Contains(text, "ahvudgvymg==") || strings.Count(text, denies+"got ***") != 5 || !strings.Contains(text, "apps/all.yaml:") {
		t.Errorf("it says\n%s", text)
	}
}
