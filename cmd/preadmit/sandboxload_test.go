package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/rest"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/sandbox"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy"
)

// fakeServer is a fake API server with the parts that loading needs. It notices late that a binding is
// gone, and serves definitions except Taken, whose names another one has.
type fakeServer struct {
	mu      sync.Mutex
	bound   []string
	deleted time.Time
}

// bindingLate is the delay with which it notices.
const bindingLate = 300 * time.Millisecond

func (s *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var body struct {
		Subjects []struct{ Name string }
		Spec     struct{ User string }
	}
	_ = json.NewDecoder(r.Body).Decode(&body)
	const definitions = "/apis/apiextensions.k8s.io/v1"
	w.Header().Set("Content-Type", "application/json")
	answer := "{}"
	switch {
	case r.URL.Path == "/api":
		answer = `{"kind": "APIVersions", "versions": []}`
	case r.URL.Path == "/apis":
		answer = `{"kind": "APIGroupList", "groups": [
			{"name": "apiextensions.k8s.io", "versions": [{"groupVersion": "apiextensions.k8s.io/v1", "version": "v1"}]},
			{"name": "example.com", "versions": [{"groupVersion": "example.com/v1", "version": "v1"}]}]}`
	case r.URL.Path == definitions:
		answer = `{"kind": "APIResourceList", "groupVersion": "apiextensions.k8s.io/v1", "resources": [{"name": "customresourcedefinitions", "kind": "CustomResourceDefinition"}]}`
	case r.URL.Path == "/apis/example.com/v1":
		answer = `{"kind": "APIResourceList", "groupVersion": "example.com/v1", "resources": [{"name": "things", "kind": "Thing"}]}`
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/taken.example.com"):
		answer = `{"status": {"conditions": [{"type": "NamesAccepted", "status": "False", "message": "plural is in use"}]}}`
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/things.example.com"):
		answer = `{"spec": {"group": "example.com", "names": {"plural": "things"}, "versions": [{"name": "v1", "served": true}]},
			"status": {"conditions": [{"type": "Established", "status": "True"}]}}`
	case r.Method == http.MethodDelete && strings.Contains(r.URL.Path, "/clusterrolebindings/"):
		s.deleted = time.Now()
	case r.Method == http.MethodPatch && strings.Contains(r.URL.Path, "/clusterrolebindings/"):
		s.bound, s.deleted = nil, time.Time{}
		for _, subject := range body.Subjects {
			s.bound = append(s.bound, subject.Name)
		}
	case strings.HasSuffix(r.URL.Path, "/subjectaccessreviews"):
		there := s.deleted.IsZero() || time.Since(s.deleted) < bindingLate
		answer = fmt.Sprintf(`{"status": {"allowed": %t}}`, slices.Contains(s.bound, body.Spec.User) && there || body.Spec.User == "own")
	}
	_, _ = fmt.Fprint(w, answer)
}

// TestSandboxLoads: users without own rights stay administrators once the server has noticed that the
// binding is gone, and a definition whose names are taken does not prevent loading the rest.
func TestSandboxLoads(t *testing.T) {
	fake := &fakeServer{}
	server := httptest.NewServer(fake)
	defer server.Close()
	l, err := sandbox.NewLoaderOf(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	definition := func(plural, kind, by string) scanner.Applied {
		return scanner.Applied{Object: admission.ParseObject(fmt.Appendf(nil, `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
			"metadata": {"name": "%s.example.com"}, "spec": {"group": "example.com", "names": {"kind": "%s"}}}`, plural, kind)),
			Key: admission.Key{Kind: "CustomResourceDefinition", Name: plural}, User: &user.DefaultInfo{Name: by}}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	loaded, err := l.Load(ctx, scanner.Deployed{Applied: []scanner.Applied{definition("taken", "Taken", "jane"), definition("things", "Thing", "own")}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(loaded.Admins, []string{"jane"}) || !slices.Equal(fake.bound, []string{"jane"}) {
		t.Errorf("administrators stay %q, the binding is of %q, want jane", loaded.Admins, fake.bound)
	}
	var said bytes.Buffer
	loaded.Write(&said, &scanner.Deployment{Report: &report.Report{}}, true)
	want := "CustomResourceDefinition taken.example.com (its names are not accepted: plural is in use) is not served\n"
	if said.String() != want {
		t.Errorf("it says %q, want %q", &said, want)
	}
}

// TestSandboxUpdateOutput: the output of an update has the Namespaces that stay and the new administrators; if
// quiet, only what is refused.
func TestSandboxUpdateOutput(t *testing.T) {
	object := func(name string, allowed bool) sandbox.Result {
		o := admission.ParseObject([]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"` + name + `"}}`))
		return sandbox.Result{Applied: scanner.Applied{Object: o, Key: admission.Key{Kind: "ConfigMap", Name: name}, Root: "apps"}, Answer: policy.Verdict{Allowed: allowed, Message: "no"}}
	}
	u := &sandbox.Update{
		Loaded:  &sandbox.Loaded{Results: []sandbox.Result{object("good", true), object("bad", false)}, Namespaces: []string{"shop"}, Admins: []string{"old", "jane"}},
		Deleted: []sandbox.Result{object("gone", true)}, Needed: []string{"team"}, Made: []string{"jane"},
	}
	refused := "apps: ConfigMap/bad: no\n"
	for quiet, want := range map[bool]string{
		true: refused,
		false: "applied ConfigMap/good\n" + refused + "deleted ConfigMap/gone\n" + `preadmit: applied 1 object, deleted 1, refused 1
preadmit: left 1 Namespace that nothing defines any more, as objects are in it: team
preadmit: made 1 Namespace that nothing loaded defines: shop
preadmit: bound cluster-admin to 1 user without the rights to apply the objects: jane
`,
	} {
		var out bytes.Buffer
		u.Write(&out, &scanner.Deployment{Report: &report.Report{}}, quiet)
		if got := out.String(); got != want {
			t.Errorf("quiet %t: it says\n%s\nwant\n%s", quiet, got, want)
		}
	}
}

// TestSandboxWatch: files saved before Follow are noticed, and files in the excluded directories are
// not.
func TestSandboxWatch(t *testing.T) {
	dir := t.TempDir()
	write := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(time.Now().String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "cache"), 0o700); err != nil {
		t.Fatal(err)
	}
	w := sandbox.NewWatch([]string{dir}, []string{filepath.Join(dir, "cache"), ""})
	changes := func() int {
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		n := 0
		if err := w.Follow(ctx, func() error { n++; return nil }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	write("cache/entry")
	if n := changes(); n != 0 {
		t.Errorf("%d changes where only the cache was written, want 0", n)
	}
	write("map.yaml")
	if n := changes(); n != 1 {
		t.Errorf("%d changes where a file was saved, want 1", n)
	}
}
