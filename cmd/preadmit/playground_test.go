package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/internal/jail"
	"github.com/preadmit/preadmit/report"
	trial "github.com/preadmit/preadmit/scanner/playground"
	"github.com/preadmit/preadmit/webhooks/playground"
)

// TestPlaygroundExamples: the answer to each example is the one in its text, and `preadmit test`
// agrees with its suite.
func TestPlaygroundExamples(t *testing.T) {
	want := map[string]string{
		"replicas": "failed expression: object.spec.replicas <= 5", "params": "at most 3 replicas, not 4",
		"variables": "only prod images are allowed in namespace shop", "match-conditions": "", "audit-annotations": "", "authorizer": "",
		"update": "from 3 to 9 replicas is more than twice as many", "type-check": "no such key: replica", "not-matched": "",
		"sidecar": "", "json-patch": "", "pod-security": "privileged: setup",
	}
	j := &trial.Judge{}
	for _, e := range playground.Examples() {
		message, known := want[e.Name]
		a := j.Answer(t.Context(), &e.Request)
		if !known || len(a.Problems) > 0 || len(a.Explain.Refused) > 0 || len(a.Explain.Answer.Indeterminate) > 0 {
			t.Errorf("%s: %+v", e.Name, a)
			continue
		}
		if got := a.Explain.Answer; got.Allowed != (message == "") || !strings.HasSuffix(got.Message, message) {
			t.Errorf("%s: allowed %v, %s, want %q", e.Name, got.Allowed, got.Message, message)
		}
		asked := e.Request
		asked.Suite = true
		dir := t.TempDir()
		for name, text := range j.Answer(t.Context(), &asked).Files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var said bytes.Buffer
		if code := Main(t.Context(), []string{"test", dir}, cli.Process{Stdout: &said, Stderr: &said, Getenv: func(string) string { return "" }}); code != cli.ExitClean || !strings.Contains(said.String(), "1 as expected") {
			t.Errorf("%s: preadmit test ends with %d: %s", e.Name, code, &said)
		}
	}
	types := j.Answer(t.Context(), &playground.Examples()[7].Request).Explain.Policies[0].TypeWarnings
	if len(types) != 1 || types[0].Line != 1 || types[0].Column != 12 {
		t.Errorf("type checks: %+v", types)
	}
}

// TestPlaygroundMistakes: a mistake is reported with its field and line.
func TestPlaygroundMistakes(t *testing.T) {
	object := "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"
	other := "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: b}}"
	kyverno := "{apiVersion: kyverno.io/v1, kind: ClusterPolicy, metadata: {name: a}}"
	binding := "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: a}, spec: {policyName: a, validationActions: [Deny]}}"
	j := &trial.Judge{}
	for _, test := range []struct {
		request report.PlaygroundRequest
		want    string
	}{
		{report.PlaygroundRequest{}, "object 0: the request needs an object here"},
		{report.PlaygroundRequest{Object: "# nothing\n---\n"}, "object 0: the request needs an object here"},
		{report.PlaygroundRequest{Object: "a: [\n"}, "object 2: "},
		{report.PlaygroundRequest{Object: object + "\n---\n\n" + object}, "object 4: a request has one object: remove the others"},
		{report.PlaygroundRequest{Object: "kind: List\napiVersion: v1\nitems:\n- " + object}, "object 1: a request has one object, and this is a list of 1: give one of them"},
		{report.PlaygroundRequest{Object: "{kind: A}"}, "object 0: no Kubernetes object: apiVersion is required"},
		{report.PlaygroundRequest{Object: object, Policies: "a: b\n"}, "policies 1: no Kubernetes object"},
		{report.PlaygroundRequest{Object: object, Params: "\n\na: [b\n"}, "params "},
		{report.PlaygroundRequest{Object: object, Namespace: "x\n"}, "namespace 1: "},
		{report.PlaygroundRequest{Object: object, Operation: "UPDATE"}, "oldObject 0: the request needs an object here"},
		{report.PlaygroundRequest{Object: object, Operation: "DELETE"}, "object 0: a DELETE has no new object: what it deletes is the old object, so move it there"},
		{report.PlaygroundRequest{Object: object, Policies: "\n" + kyverno}, "policies 2: nothing reads a ClusterPolicy of kyverno.io/v1 here, which is no policy of the API server: remove it, or name its kind as the paramKind of a policy"},
		{report.PlaygroundRequest{Object: object, Params: object + "\n---\n" + binding}, "params 3: a ValidatingAdmissionPolicyBinding belongs to the policies and bindings: move it there"},
		{report.PlaygroundRequest{Object: object, Params: object + "\n---\n" + other}, "params 3: ConfigMap/a is written twice, first at params.yaml:1"},
		{report.PlaygroundRequest{Object: object, Namespace: binding}, "namespace 1: a ValidatingAdmissionPolicyBinding belongs to the policies and bindings: move it there"},
		{report.PlaygroundRequest{OldObject: "- a\n", Operation: "DELETE"}, "oldObject 1: "},
		{report.PlaygroundRequest{Object: object, Groups: "a"}, "user 0: groups are those of a user"},
	} {
		a := j.Answer(t.Context(), &test.request)
		got := fmt.Sprint(a)
		if len(a.Problems) > 0 {
			got = fmt.Sprintf("%s %d: %s", a.Problems[0].Field, a.Problems[0].Line, a.Problems[0].Message)
		}
		if !strings.HasPrefix(got, test.want) {
			t.Errorf("%+v: %s, want %s", test.request, got, test.want)
		}
	}
}

// TestPlaygroundNotes: parts of fields that the answer ignores are reported.
func TestPlaygroundNotes(t *testing.T) {
	named := func(apiVersion, kind, name string) string {
		return "{apiVersion: " + apiVersion + ", kind: " + kind + ", metadata: {name: " + name + ", namespace: default}}\n"
	}
	policy := func(expression string) string {
		return `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: a}, spec: {paramKind: {apiVersion: v1, kind: Secret}, matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}, validations: [{expression: "` + expression + `"}]}}
---
`
	}
	object, unread := named("v1", "ConfigMap", "a"), " of v1 here, which is no policy of the API server: remove it, or name its kind as the paramKind of a policy"
	j := &trial.Judge{}
	for _, test := range []struct {
		request report.PlaygroundRequest
		want    []string
	}{
		{report.PlaygroundRequest{Object: object, Policies: policy("true"), Params: named("v1", "Secret", "s"), Namespace: "{apiVersion: v1, kind: Namespace, metadata: {name: n}}", RBAC: "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}, rules: []}"}, nil},
		{report.PlaygroundRequest{Object: object, OldObject: object}, []string{"oldObject 0: not used: a CREATE has no old object; choose UPDATE or DELETE to use it"}},
		{report.PlaygroundRequest{Object: object, OldObject: object, Operation: "UPDATE"}, nil},
		{report.PlaygroundRequest{Object: object, OldObject: object, Operation: "DELETE"}, []string{"object 0: not used: a DELETE has no new object"}},
		{report.PlaygroundRequest{Object: object, Policies: policy("false") + policy("false") + policy("true")}, []string{
			"policies 1: replaced by the ValidatingAdmissionPolicy in line 3, which has the same name: a cluster has one of a name, so remove or rename one",
			"policies 3: replaced by the ValidatingAdmissionPolicy in line 5, which has the same name: a cluster has one of a name, so remove or rename one"}},
		{report.PlaygroundRequest{Object: object, Params: named("v1", "ConfigMap", "b") + "---\n\n" + named("v1", "ConfigMap", "c"), Policies: policy("true")},
			[]string{"params 1: nothing reads a ConfigMap" + unread, "params 4: nothing reads a ConfigMap" + unread}},
		{report.PlaygroundRequest{Object: object, Namespace: named("v1", "Pod", "b")}, []string{"namespace 1: nothing reads a Pod" + unread}},
		{report.PlaygroundRequest{Object: object, RBAC: "\n" + named("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "b")}, []string{"rbac 2: the webhooks of a ValidatingWebhookConfiguration are not called here: remove it"}},
	} {
		a := j.Answer(t.Context(), &test.request)
		var got []string
		for _, n := range a.Notes {
			got = append(got, fmt.Sprintf("%s %d: %s", n.Field, n.Line, n.Message))
		}
		if len(a.Problems) > 0 || !slices.Equal(got, test.want) {
			t.Errorf("%+v: %v %q, want %q", test.request, a.Problems, got, test.want)
		}
	}
}

// TestPlaygroundUnknownKind: for a kind that nothing defines, the message says where to define it.
func TestPlaygroundUnknownKind(t *testing.T) {
	a := (&trial.Judge{}).Answer(t.Context(), &report.PlaygroundRequest{Object: "{apiVersion: example.com/v1, kind: Foo, metadata: {name: a}}"})
	want := "no CustomResourceDefinition defines example.com/v1 Foo; add it under Namespaces, CustomResourceDefinitions"
	if a.Explain == nil || !slices.Equal(a.Explain.Answer.Indeterminate, []string{want}) {
		t.Errorf("%+v, want %s", a, want)
	}
}

// TestPlaygroundBombs: expensive input gets an answer in time, with the reason.
func TestPlaygroundBombs(t *testing.T) {
	ten := "[0,1,2,3,4,5,6,7,8,9]"
	nested := "true"
	for i := range 9 {
		nested = fmt.Sprintf("%s.all(v%d, %s)", ten, i, nested)
	}
	policy := func(expression string) string {
		return `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: a}, spec: {matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}, validations: [{expression: "` + expression + `"}]}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: a}, spec: {policyName: a, validationActions: [Deny]}}
`
	}
	object := "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}, data: {a: '" + strings.Repeat("x", 200_000) + "'}}"
	aliases := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'j'; c++ {
		aliases += fmt.Sprintf("%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1)
	}
	j := &trial.Judge{}
	for name, r := range map[string]report.PlaygroundRequest{
		"loops":   {Policies: policy(nested), Object: object},
		"strings": {Policies: policy("object.data.a.replace('x', object.data.a).size() > 0"), Object: object},
		"aliases": {Policies: policy("true"), Object: aliases},
		"depth":   {Policies: policy("true"), Object: strings.Repeat("[", 100_000)},
		"many":    {Policies: strings.Repeat(policy("object.data.a == 'a'")+"---\n", 200), Object: object},
	} {
		start := time.Now()
		a := j.Answer(t.Context(), &r)
		if a.Explain != nil && len(a.Explain.Policies) > 200 {
			t.Errorf("%s: %d policies are explained", name, len(a.Explain.Policies))
		}
		t.Logf("%s: %v, problems %.200v", name, time.Since(start).Round(time.Millisecond), a.Problems)
	}
}

// TestPlaygroundCommand: the command serves the page until its context ends, and only to requests for
// its address.
func TestPlaygroundCommand(t *testing.T) {
	program, err := exec.LookPath("preadmit") // the test binary, see TestMain
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, in := io.Pipe()
	ended := make(chan int)
	var said bytes.Buffer
	go func() {
		ended <- Main(ctx, []string{"playground", "--no-browser"}, cli.Process{Stdout: in, Stderr: &said, Getenv: os.Getenv, Executable: program})
		_ = in.Close()
	}()
	var address string
	if _, err := fmt.Fscanln(out, &address); err != nil {
		t.Fatal(err, &said)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	for host, code := range map[string]int{"": http.StatusOK, "evil.example.com": http.StatusMisdirectedRequest} {
		r, err := http.NewRequestWithContext(ctx, "POST", address+"/answer", strings.NewReader(`{"object": "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if answer.StatusCode != code || code == http.StatusOK && !strings.Contains(string(body), `"allowed":true`) {
			t.Errorf("%s: %d %s", host, answer.StatusCode, body)
		}
	}
	cancel()
	if code := <-ended; code != cli.ExitClean {
		t.Errorf("ends with %d: %s", code, &said)
	}
}

// TestServedPlayground: a service has the playground only if configured, and judges in a full jail;
// input that takes too long does not affect the service.
func TestServedPlayground(t *testing.T) {
	if err := jail.Check(); err != nil {
		t.Skip(err)
	}
	ask := func(address, body string) (int, string) {
		t.Helper()
		answer, err := http.Post("http://"+address+"/playground/answer", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		return answer.StatusCode, string(text)
	}
	const configMap = `{"object": "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}"}`
	_, _, address := startServiceWith(t, nil)
	if code, text := ask(address, configMap); code == http.StatusOK || strings.Contains(text, "allowed") {
		t.Errorf("without a setting: %d %s", code, text)
	}
	_, _, address = startServiceWith(t, map[string]string{"PREADMIT_PLAYGROUND_ACCESS": "public"})
	for _, test := range []struct {
		body string
		code int
		want string
	}{
		{configMap, http.StatusOK, `"allowed":true`},
		{`{"policies": "` + strings.Repeat("x", 10<<20) + `"}`, http.StatusRequestEntityTooLarge, "512 KiB"},
		{`{"object": "` + strings.Repeat("[", 400_000) + `"}`, http.StatusOK, "max depth"},
		{configMap, http.StatusOK, `"allowed":true`},
	} {
		if code, text := ask(address, test.body); code != test.code || !strings.Contains(text, test.want) {
			t.Errorf("%.60s: %d %.300s, want %d %s", test.body, code, text, test.code, test.want)
		}
	}
	if answer, err := http.Get("http://" + address + "/playground"); err != nil || answer.StatusCode != http.StatusOK {
		t.Error(err, answer)
	} else {
		_ = answer.Body.Close()
	}
}

// BenchmarkPlayground judges the object of an example, which changes each time as while typing.
func BenchmarkPlayground(b *testing.B) {
	j := &trial.Judge{}
	examples := playground.Examples()
	for i := 0; b.Loop(); i++ {
		r := examples[i%len(examples)].Request
		r.Object = strings.ReplaceAll(r.Object, "web", fmt.Sprintf("web%d", i))
		if a := j.Answer(b.Context(), &r); len(a.Problems) > 0 {
			b.Fatal(a.Problems)
		}
	}
}
