package githubtest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestLimits checks that what GitHub rejects is rejected, and reported as a problem.
func TestLimits(t *testing.T) {
	annotation := func(more string) string {
		return `{"path":"a","start_line":1,"end_line":1,"annotation_level":"notice","message":"m"` + more + `}`
	}
	output := func(more string) string {
		return `{"name":"n","head_sha":"x","output":{"title":"t","summary":"s"` + more + `}}`
	}
	annotations := func(list ...string) string { return output(`,"annotations":[` + strings.Join(list, ",") + `]`) }
	many := make([]string, 51)
	for i := range many {
		many[i] = annotation("")
	}
	const runs, comments = "/repos/octo/shop/check-runs", "/repos/octo/shop/issues/7/comments"
	for name, test := range map[string]struct {
		method, path, body string
		status             int
	}{
		"good":                  {"POST", runs, annotations(many[:50]...), 201},
		"summary":               {"POST", runs, `{"name":"n","head_sha":"x","output":{"title":"t","summary":"` + strings.Repeat("a", 65536) + `"}}`, 422},
		"summary, in bytes":     {"POST", runs, `{"name":"n","head_sha":"x","output":{"title":"t","summary":"` + strings.Repeat("語", 30000) + `"}}`, 422},
		"text":                  {"POST", runs, output(`,"text":"` + strings.Repeat("a", 65536) + `"`), 422},
		"annotations":           {"POST", runs, annotations(many...), 422},
		"message":               {"POST", runs, annotations(annotation(`,"message":"` + strings.Repeat("a", 65537) + `"`)), 422},
		"details":               {"POST", runs, annotations(annotation(`,"raw_details":"` + strings.Repeat("a", 65537) + `"`)), 422},
		"title":                 {"POST", runs, annotations(annotation(`,"title":"` + strings.Repeat("a", 256) + `"`)), 422},
		"columns":               {"POST", runs, annotations(annotation(`,"end_line":2,"start_column":1`)), 422},
		"lines":                 {"POST", runs, annotations(annotation(`,"end_line":0`)), 422},
		"level":                 {"POST", runs, annotations(annotation(`,"annotation_level":"error"`)), 422},
		"conclusion":            {"POST", runs, `{"name":"n","head_sha":"x","status":"completed"}`, 422},
		"no head":               {"POST", runs, `{"name":"n"}`, 422},
		"comment":               {"POST", comments, `{"body":"` + strings.Repeat("語", 65536) + `"}`, 201},
		"long comment":          {"POST", comments, `{"body":"` + strings.Repeat("語", 65537) + `"}`, 422},
		"blank comment":         {"POST", comments, `{"body":""}`, 422},
		"SARIF without ref":     {"POST", "/repos/octo/shop/code-scanning/sarifs", `{"sarif":"x","commit_sha":"` + strings.Repeat("1", 40) + `"}`, 422},
		"unknown operation":     {"GET", "/repos/octo/shop/stargazers", "", 422},
		"a body for GET":        {"GET", comments, "{}", 422},
		"unknown query":         {"GET", comments + "?author=me", "", 422},
		"another repository":    {"GET", "/repos/octo/other/issues/7/comments", "", 404},
		"a vanished pull":       {"GET", "/repos/octo/shop/pulls/8/files", "", 404},
		"an unknown check run":  {"GET", runs + "/5", "", 404},
		"annotations of a none": {"GET", runs + "/5/annotations", "", 404},
	} {
		s, err := New(Config{})
		if err != nil {
			t.Fatal(err)
		}
		status, text := ask(t, s, test.method, test.path, test.body)
		if status != test.status {
			t.Errorf("%s: %d %s, want %d", name, status, clip(text), test.status)
		}
		if got := len(s.Problems()) > 0; got != (test.status == 422) {
			t.Errorf("%s: problems %v", name, s.Problems())
		}
		s.Close()
	}
}

func clip(s string) string { return s[:min(len(s), 200)] }

func ask(t *testing.T, s *Server, method, path, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, strings.TrimSuffix(s.URL, "/")+path, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// TestAnnotationsAreAppended checks that each update appends annotations, and lists have pages.
func TestAnnotationsAreAppended(t *testing.T) {
	s, err := New(Config{PageSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	id := s.AddCheckRun(CheckRun{App: "github-actions", Name: "n", HeadSHA: "x", Status: "in_progress"})
	if id != 1001 {
		t.Fatalf("ID %d", id)
	}
	body := `{"output":{"title":"t","summary":"s","annotations":[{"path":"a","start_line":1,"end_line":1,"annotation_level":"notice","message":"m"}]}}`
	for range 2 {
		if status, text := ask(t, s, "PATCH", "/repos/octo/shop/check-runs/1001", body); status != 200 {
			t.Fatalf("%d %s", status, text)
		}
	}
	if n := len(s.CheckRuns()[0].Annotations); n != 2 {
		t.Errorf("%d annotations, want 2", n)
	}
	for _, page := range []string{"1", "2"} {
		_, text := ask(t, s, "GET", "/repos/octo/shop/check-runs/1001/annotations?per_page=50&page="+page, "")
		var list []Annotation
		if err := json.Unmarshal([]byte(text), &list); err != nil || len(list) != 1 || list[0].Message != "m" {
			t.Errorf("page %s: %s", page, text)
		}
	}
	if p := s.Problems(); len(p) > 0 {
		t.Error(p)
	}
}

// TestOtherAppsRunsAreNotOurs checks that an App cannot change the check runs of others.
func TestOtherAppsRunsAreNotOurs(t *testing.T) {
	s, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.AddCheckRun(CheckRun{App: "other", Name: "n", HeadSHA: "x", Status: "in_progress"})
	if status, text := ask(t, s, "PATCH", "/repos/octo/shop/check-runs/1001", `{"status":"in_progress"}`); status != 403 {
		t.Errorf("%d %s, want 403", status, text)
	}
}
