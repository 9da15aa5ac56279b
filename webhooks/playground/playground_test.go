package playground

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/report"
)

// judge is a Judge with the answers of a test.
type judge func(r *report.PlaygroundRequest) (*report.PlaygroundAnswer, error)

func (j judge) Answer(_ context.Context, r *report.PlaygroundRequest) (*report.PlaygroundAnswer, error) {
	return j(r)
}

func testPage(t *testing.T, j judge) http.Handler {
	t.Helper()
	p, err := New(Config{Judge: j})
	if err != nil {
		t.Fatal(err)
	}
	return p.Handler()
}

// hostile is text that is markup unless it is escaped.
const hostile = `<script>alert(1)</script>"'&`

// denied returns an answer with hostile text in all fields.
func denied() *report.PlaygroundAnswer {
	part := report.ExplainedPart{Text: hostile, State: report.StateError, Why: hostile}
	return &report.PlaygroundAnswer{Notes: []report.PlaygroundProblem{{Field: "params", Line: 7, Message: hostile}}, Explain: &report.ExplainReport{
		Answer:  report.ExplainedAnswer{Code: 422, Reason: "Invalid", Message: hostile, Warnings: []string{hostile}, AuditAnnotations: map[string]string{hostile: hostile}},
		Refused: []report.PolicyError{{Kind: "ValidatingAdmissionPolicy", Name: hostile, Message: hostile}},
		Changes: []string{"+" + hostile, "-" + hostile, "@@ 1", " " + hostile},
		Policies: []report.ExplainedPolicy{{
			Kind: "ValidatingAdmissionPolicy", Name: hostile, Binding: hostile, Param: hostile, Applies: "yes",
			Matching: []report.ExplainedMatch{{Field: hostile, Of: "policy", Result: "no", Why: hostile, Decides: true}},
			Expressions: []report.ExplainedExpression{{Field: "spec.validations[0].expression", Text: hostile, State: report.StateError, Why: hostile, Parts: []report.ExplainedPart{{
				Text: hostile, State: report.StateValue, Value: hostile, Parts: []report.ExplainedPart{part}, MoreRounds: 1, MoreParts: true,
				Rounds: []report.ExplainedRound{{Bound: []report.ExplainedBound{{Name: hostile, Value: hostile}}, Parts: []report.ExplainedPart{part}}},
			}}}},
			Costs:        []report.ExplainedCost{{Group: hostile, Cost: 1, Budget: 3, Exhausted: true}},
			TypeWarnings: []report.ExplainedTypeWarning{{Field: hostile, Warning: hostile, Line: 1, Column: 1}},
			Changes:      []string{"+" + hostile}, Notes: []string{hostile},
		}},
	}}
}

func send(h http.Handler, method, path, contentType, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const formType = "application/x-www-form-urlencoded"

// TestWithoutAScript checks that the form of a browser without a script returns the page with the input
// and the answer, all escaped.
func TestWithoutAScript(t *testing.T) {
	var asked report.PlaygroundRequest
	h := testPage(t, func(r *report.PlaygroundRequest) (*report.PlaygroundAnswer, error) { asked = *r; return denied(), nil })
	form := url.Values{"policies": {"a\r\nb"}, "object": {hostile}, "operation": {"UPDATE"}, "user": {hostile}, "groups": {"g"}, "oldObject": {"o"}, "judge": {"1"}}
	w := send(h, "POST", Path, formType, form.Encode())
	page := w.Body.String()
	if w.Code != http.StatusOK || asked.Policies != "a\nb" || asked.Operation != "UPDATE" || asked.OldObject != "o" || asked.Groups != "g" {
		t.Errorf("status %d, asked %+v", w.Code, asked)
	}
	for _, want := range []string{"Refused: 422 Invalid", "<option selected>UPDATE</option>", "does not match", "exhausted", "1 more rounds", `<a href="#params">params</a>, line 7: &lt;script&gt;`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
	if strings.Contains(page, "<script>alert") {
		t.Error("text is markup")
	}
	if csp := w.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "script-src 'self'") || strings.Contains(csp, "unsafe") {
		t.Errorf("the page's policy is %q", csp)
	}
}

// TestWithAScript checks that the script gets the same as a part of the page, and as JSON.
func TestWithAScript(t *testing.T) {
	h := testPage(t, func(*report.PlaygroundRequest) (*report.PlaygroundAnswer, error) { return denied(), nil })
	w := send(h, "POST", Path+"/answer", "application/json", `{"policies": "p", "suite": true}`)
	var said struct {
		HTML   string
		Answer *report.PlaygroundAnswer
	}
	if err := json.Unmarshal(w.Body.Bytes(), &said); err != nil || w.Code != http.StatusOK {
		t.Fatal(err, w.Code)
	}
	if said.Answer == nil || said.Answer.Explain == nil || !strings.Contains(said.HTML, "Refused: 422") || strings.Contains(said.HTML, "<script>alert") {
		t.Errorf("%.300s", said.HTML)
	}
}

// TestRefusedRequests checks the response to requests that are too large, from other sites, too
// frequent, or cannot be judged.
func TestRefusedRequests(t *testing.T) {
	busy := false
	h := testPage(t, func(r *report.PlaygroundRequest) (*report.PlaygroundAnswer, error) {
		switch {
		case busy:
			return nil, ErrBusy
		case r.Policies == "bomb":
			return nil, ErrEnded
		}
		return &report.PlaygroundAnswer{Problems: []report.PlaygroundProblem{{Field: "object", Line: 3, Column: 5, Message: hostile}}}, nil
	})
	large := `{"policies": "` + strings.Repeat("x", 10<<20) + `"}`
	for _, test := range []struct {
		name, path, contentType, body string
		headers                       []string
		code                          int
		want                          string
	}{
		{"too large", Path + "/answer", "application/json", large, nil, http.StatusRequestEntityTooLarge, "512 KiB"},
		{"too large a form", Path, formType, "policies=" + strings.Repeat("x", 10<<20), nil, http.StatusRequestEntityTooLarge, "512 KiB"},
		{"no JSON", Path + "/answer", "application/json", "{", nil, http.StatusBadRequest, "cannot be read"},
		{"no operation", Path + "/answer", "application/json", `{"operation": "EAT"}`, nil, http.StatusBadRequest, "CREATE, UPDATE, DELETE"},
		{"a bomb", Path + "/answer", "application/json", `{"policies": "bomb"}`, nil, http.StatusUnprocessableEntity, "too long or too much memory"},
		{"a mistake", Path + "/answer", "application/json", `{}`, nil, http.StatusOK, "line 3:5"},
		{"a suite of a mistake", Path, formType, "suite=1", nil, http.StatusUnprocessableEntity, "line 3:5"},
		{"another site", Path, formType, "judge=1", []string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden, ""},
	} {
		w := send(h, "POST", test.path, test.contentType, test.body, test.headers...)
		if w.Code != test.code || !strings.Contains(w.Body.String(), test.want) {
			t.Errorf("%s: %d %.200s, want %d and %s", test.name, w.Code, w.Body, test.code, test.want)
		}
	}
	busy = true
	if w := send(h, "POST", Path+"/answer", "application/json", `{}`); w.Code != http.StatusServiceUnavailable {
		t.Errorf("busy: %d", w.Code)
	}
	code := 0
	for range 2 * askedAtOnce {
		code = send(h, "POST", Path+"/answer", "application/json", `{}`).Code
	}
	if code != http.StatusTooManyRequests {
		t.Errorf("a client that asks %d times: %d", 2*askedAtOnce, code)
	}
}

// TestRates checks that clients have separate rates, which recover, and that idle ones are forgotten.
func TestRates(t *testing.T) {
	now := time.Unix(0, 0)
	r := newRates(func() time.Time { return now })
	for range askedAtOnce {
		r.allow("a")
	}
	if r.allow("a") || !r.allow("b") {
		t.Error("a may ask more than it may, or b less")
	}
	now = now.Add(askEvery)
	if !r.allow("a") {
		t.Error("a may not ask again")
	}
	for i := range maxClients + 10 {
		r.allow(string(rune(i)) + "x")
	}
	if len(r.of) > maxClients {
		t.Errorf("%d clients are known", len(r.of))
	}
	now = now.Add(time.Hour)
	if !r.allow("new") || len(r.of) > 1 {
		t.Errorf("%d clients are known after an hour", len(r.of))
	}
}

// TestRequestsTogether checks the limit of a client's concurrent requests.
func TestRequestsTogether(t *testing.T) {
	r := newRates(time.Now)
	var all []func()
	for range askedTogether {
		done, ok := r.begin("a")
		if !ok {
			t.Fatal("a may not ask")
		}
		all = append(all, done)
	}
	if _, ok := r.begin("a"); ok {
		t.Error("a may ask more than it may")
	}
	if _, ok := r.begin("b"); !ok {
		t.Error("b may not ask")
	}
	all[0]()
	if _, ok := r.begin("a"); !ok || len(r.judged) != 2 {
		t.Errorf("a may not ask again; %d clients", len(r.judged))
	}
}

// TestSuiteArchive checks that a suite is an archive of one directory.
func TestSuiteArchive(t *testing.T) {
	h := testPage(t, func(r *report.PlaygroundRequest) (*report.PlaygroundAnswer, error) {
		if !r.Suite {
			t.Error("no suite is asked for")
		}
		return &report.PlaygroundAnswer{Files: map[string]string{"requests.yaml": "r", "policies.yaml": "p"}}, nil
	})
	for _, path := range []string{Path + "/suite", Path} {
		w := send(h, "POST", path, formType, "suite=1&policies=p")
		z, err := zip.NewReader(bytes.NewReader(w.Body.Bytes()), int64(w.Body.Len()))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			data, _ := io.ReadAll(r)
			got += f.Name + "=" + string(data) + " "
		}
		if got != "playground/policies.yaml=p playground/requests.yaml=r " {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// TestExamples checks that each example has a title, a description, policies and an object, and is on
// the page.
func TestExamples(t *testing.T) {
	h := testPage(t, nil)
	names := map[string]bool{}
	for _, e := range Examples() {
		if e.Title == "" || e.About == "" || e.Request.Policies == "" || e.Request.Object == "" || names[e.Name] {
			t.Errorf("%s: %+v", e.Name, e)
		}
		names[e.Name] = true
		page := send(h, "GET", Path+"?example="+e.Name, "", "").Body.String()
		if !strings.Contains(page, `value="`+e.Name+`" selected`) {
			t.Errorf("%s is not chosen on its page", e.Name)
		}
	}
	if len(names) < 8 {
		t.Errorf("%d examples", len(names))
	}
}

// TestDrawn checks that the character above a caret is marked, whatever precedes it on the line.
func TestDrawn(t *testing.T) {
	for text, want := range map[string]string{
		"ERROR: <input>:1:8: no\n | object.a.b == 1\n | .......^": "ERROR: <input>:1:8: no\n | object.[a].b == 1",
		" | '日本' + x\n | .．．....^":                                " | '日本' + [x]",
		" | '日'\n | .＾":                                           " | '[日]'",
		" | a b\n | ^\n | a b\n | ..^":                            " | [a] b\n | a [b]",
		" | a\n | .^":                                             " | a[ ]",
		"no drawing\n | ..^":                                      "no drawing\n | ..^",
		" | short\n | ..........^":                                " | short[ ]",
		" | first\n | ^\n | .^":                                   " | [f]irst\n | .^",
	} {
		var lines []string
		for _, l := range drawn(text) {
			line := l.Before
			if l.Marked {
				line += "[" + l.At + "]" + l.After
			}
			lines = append(lines, line)
		}
		if got := strings.Join(lines, "\n"); got != want {
			t.Errorf("%q is drawn as %q, want %q", text, got, want)
		}
	}
}

// TestVersion checks that the judge receives a version other than the latest, and only a supported one.
func TestVersion(t *testing.T) {
	asked := "none"
	p, err := New(Config{Versions: []string{"1.36", "1.35"}, Judge: judge(func(r *report.PlaygroundRequest) (*report.PlaygroundAnswer, error) {
		asked = r.Version
		return denied(), nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		version, asked string
		status         int
	}{{"1.35", "1.35", 200}, {"1.36", "", 200}, {"", "", 200}, {"1.30", "none", 400}, {"<b>", "none", 400}} {
		asked = "none"
		w := send(p.Handler(), "POST", Path, formType, url.Values{"version": {test.version}}.Encode())
		if w.Code != test.status || asked != test.asked {
			t.Errorf("%q: status %d, asked for %q, want %d and %q", test.version, w.Code, asked, test.status, test.asked)
		}
		if test.status == 200 && test.version != "" && !strings.Contains(w.Body.String(), "<option selected>"+test.version+"</option>") {
			t.Errorf("%q is not chosen on the page", test.version)
		}
	}
}
