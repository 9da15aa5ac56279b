package snapshot

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// cluster is a fake API server with a few objects, on two pages.
func cluster(t *testing.T, asked *[]string) *rest.Config {
	t.Helper()
	answers := map[string]string{
		"/version": `{"gitVersion":"v1.36.3"}`,
		"/api":     `{"kind":"APIVersions","versions":["v1"]}`,
		"/apis":    `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"admissionregistration.k8s.io","versions":[{"groupVersion":"admissionregistration.k8s.io/v1","version":"v1"}],"preferredVersion":{"groupVersion":"admissionregistration.k8s.io/v1","version":"v1"}}]}`,
		"/api/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[
{"name":"namespaces","kind":"Namespace","verbs":["list"]},{"name":"namespaces/status","kind":"Namespace","verbs":["get"]},
{"name":"secrets","kind":"Secret","namespaced":true,"verbs":["list"]},{"name":"pods","kind":"Pod","namespaced":true,"verbs":["list"]},
{"name":"limitranges","kind":"LimitRange","namespaced":true,"verbs":["list"]}]}`,
		"/apis/admissionregistration.k8s.io/v1": `{"kind":"APIResourceList","groupVersion":"admissionregistration.k8s.io/v1","resources":[
{"name":"validatingadmissionpolicies","kind":"ValidatingAdmissionPolicy","verbs":["list"]}]}`,
		"/api/v1/namespaces":               `{"metadata":{"continue":"more"},"items":[{"metadata":{"name":"b","resourceVersion":"1","managedFields":[{"manager":"x","operation":"Apply","apiVersion":"v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{"f:a":{}}}}},{"manager":"kubelet","operation":"Update","subresource":"status"}],"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}"}},"status":{"phase":"Active"}}]}`,
		"/api/v1/namespaces?continue=more": `{"metadata":{},"items":[{"metadata":{"name":"a","generation":9007199254740993}}]}`,
		"/api/v1/secrets":                  `{"metadata":{},"items":[{"metadata":{"name":"s","namespace":"a","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"data\":{\"password\":\"c2VzYW1l\"}}"}},"data":{"password":"c2VzYW1l"}}]}`,
		"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies": `{"metadata":{},"items":[{"metadata":{"name":"p"},"spec":{"paramKind":{"apiVersion":"v1","kind":"Secret"}},"status":{"observedGeneration":1}}]}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		path := r.URL.Path
		if next := r.URL.Query().Get("continue"); next != "" {
			path += "?continue=" + next
		}
		*asked = append(*asked, r.Method+" "+path)
		rw.Header().Set("Content-Type", "application/json")
		if text, ok := answers[path]; ok {
			_, _ = rw.Write([]byte(text))
			return
		}
		rw.WriteHeader(http.StatusForbidden)
		_ = json.NewEncoder(rw).Encode(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 403, "reason": "Forbidden", "message": "you may not"})
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}
}

// TestTake: all pages are read, only requested kinds are read, and no values of Secrets.
func TestTake(t *testing.T) {
	var asked []string
	config, now := cluster(t, &asked), time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	s, err := Take(t.Context(), config, Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	data, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, want := range []string{
		"complete:\n- Namespace\n- Secret\n- ValidatingAdmissionPolicy.admissionregistration.k8s.io\n", "generation: 9007199254740993\n  name: a\n",
		"kind: Namespace\nmetadata:\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: '{}'\n  managedFields:\n  - apiVersion: v1\n    fieldsType: FieldsV1\n    fieldsV1:\n      f:metadata:\n        f:labels:\n          f:a: {}\n    manager: x\n    operation: Apply\n  name: b\nstatus:\n  phase: Active\n", "data:\n  password: \"\"\n", "preadmit.dev/omitted: data",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	for _, never := range []string{"c2VzYW1l", "kubelet", "time:", "resourceVersion", "observedGeneration"} {
		if strings.Contains(text, never) {
			t.Errorf("there is %q in\n%s", never, text)
		}
	}
	if len(s.Missed) != 1 || !strings.Contains(s.Missed[0], "LimitRange: ") || !strings.Contains(s.Missed[0], "you may not") {
		t.Errorf("missed %q", s.Missed)
	}
	if slices.ContainsFunc(asked, func(each string) bool { return !strings.HasPrefix(each, "GET ") || strings.Contains(each, "/pods") }) {
		t.Errorf("asked %q", asked)
	}
	h, err := ReadHeader(data)
	if err != nil || !h.Taken.Equal(now.Truncate(time.Second)) || h.Version != "v1.36.3" || len(h.Complete) != 3 {
		t.Errorf("header %+v, %v", h, err)
	}
	if _, err := ReadHeader([]byte("apiVersion: v1\nkind: List\n")); err == nil {
		t.Error("a list is a snapshot")
	}
}

// TestTakeSome: only the requested kinds are read; a kind that the server does not have is an error.
func TestTakeSome(t *testing.T) {
	var asked []string
	config := cluster(t, &asked)
	s, err := Take(t.Context(), config, Options{Only: []string{"secrets"}, SecretValues: true})
	if err != nil {
		t.Fatal(err)
	}
	data, err := s.Encode()
	if err != nil || !strings.Contains(string(data), "password: c2VzYW1l") || strings.Contains(string(data), "last-applied") || s.Count() != 1 || !slices.Equal(s.Complete, []string{"Secret"}) {
		t.Errorf("%v:\n%s", err, data)
	}
	if _, err := Take(t.Context(), config, Options{Also: []string{"Thing.example.com"}}); err == nil || !strings.Contains(err.Error(), `no kind "Thing.example.com"`) {
		t.Errorf("error %v", err)
	}
}
