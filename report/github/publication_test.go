package github

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/internal/githubtest"
)

// TestPublication: the check run comes last, and lists what could not be published elsewhere.
func TestPublication(t *testing.T) {
	all := Places{CheckRun: true, Comment: true, SARIF: true}
	for name, test := range map[string]struct {
		places  Places
		rules   []githubtest.Rule
		wrote   []string
		summary string // a part of the check run's
		failed  string // a part of the error
	}{
		"everything": {places: all, wrote: []string{"POST check-runs 201", "POST sarifs 202", "POST comments 201", "PATCH 1001 200"}},
		"no comment allowed": {
			places:  all,
			rules:   []githubtest.Rule{{Method: "POST", Path: "/comments", Status: 403, Message: "Resource not accessible by integration"}},
			wrote:   []string{"POST check-runs 201", "POST sarifs 202", "POST comments 403", "PATCH 1001 200"},
			summary: "No comment: comment on the pull request",
		},
		"no code scanning": {
			places:  all,
			rules:   []githubtest.Rule{{Method: "POST", Path: "/sarifs", Status: 403, Message: "Code Security must be enabled"}},
			wrote:   []string{"POST check-runs 201", "POST sarifs 403", "POST comments 201", "PATCH 1001 200"},
			summary: "No SARIF was uploaded",
		},
		"a failure": {
			places: Places{Comment: true},
			rules:  []githubtest.Rule{{Method: "GET", Path: "/comments", Status: 500, Times: 9}},
			failed: "the report could not be published: list the comments",
		},
		"nothing asked for": {},
	} {
		t.Run(name, func(t *testing.T) {
			s, r := hub(t, githubtest.Config{}), findings(3)
			for _, rule := range test.rules {
				s.Intercept(rule)
			}
			to, _ := publisher(t, s, pullTarget(), Options{})
			p := NewPublication(to, test.places, "Look there.")
			c := &Content{Report: r, SARIF: []byte("{}"), Check: CheckOptions{Files: map[string]bool{}}}
			p.Start(t.Context())
			if err := p.Publish(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if err := p.Finish(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			p.Abandon(t.Context(), Check{Title: "not told"})
			if diff := cmp.Diff(test.wrote, slices.Clip(append([]string(nil), writes(s)...))); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if runs := s.CheckRuns(); len(runs) > 0 && (!strings.Contains(runs[0].Summary, test.summary) || runs[0].Title == "not told") {
				t.Errorf("title %q, summary %q, want %q in it", runs[0].Title, runs[0].Summary, test.summary)
			}
			if err := p.Err(); (err != nil) != (test.failed != "") || err != nil && !strings.Contains(err.Error(), test.failed) {
				t.Errorf("error %v, want %q", err, test.failed)
			}
		})
	}
}

// TestPublicationLeavesOutWhatDoesNotFit: the summary of a check run counts the findings that do not
// fit, also when there are places without annotation, notes and other pull requests beside them.
func TestPublicationLeavesOutWhatDoesNotFit(t *testing.T) {
	s, r := hub(t, githubtest.Config{}), findings(1000)
	for i := range r.Findings {
		r.Findings[i].Message = fmt.Sprintf("number %d is %s", i, strings.Repeat("x", i%7))
	}
	to, _ := publisher(t, s, pullTarget(), Options{})
	p := NewPublication(to, Places{CheckRun: true}, "")
	p.Start(t.Context())
	p.AddNote("No comment: %s", strings.Repeat("the reason is long. ", 30))
	c := &Content{Report: r, Check: CheckOptions{Files: map[string]bool{}}}
	for i := range 9 {
		c.Check.Others = append(c.Check.Others, Verdict{Pull: 50 + i, Conclusion: Success, Title: strings.Repeat("long ", 40)})
	}
	if err := p.Finish(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if err := p.Err(); err != nil {
		t.Fatal(err)
	}
	summary := s.CheckRuns()[0].Summary
	for _, want := range []string{"**Left out for size:** ", "<sub>", "No comment: the reason", "_Places without annotation: ", "#58: success"} {
		if !strings.Contains(summary, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(summary, "Cut here") || len(summary) > MaxSummary {
		t.Errorf("%d bytes that end in %q", len(summary), summary[len(summary)-400:])
	}
}

// TestPublicationAbandon: a check run in progress is completed once.
func TestPublicationAbandon(t *testing.T) {
	s := hub(t, githubtest.Config{})
	to, _ := publisher(t, s, pullTarget(), Options{})
	p := NewPublication(to, Places{CheckRun: true}, "")
	p.Abandon(t.Context(), Check{Conclusion: Failure, Title: "too early"})
	p.Start(t.Context())
	p.Abandon(t.Context(), Check{Conclusion: Failure, Title: "Broken"})
	p.Abandon(t.Context(), Check{Conclusion: Failure, Title: "Twice"})
	runs := s.CheckRuns()
	if len(runs) != 1 || runs[0].Status != "completed" || runs[0].Title != "Broken" {
		t.Errorf("runs %+v", runs)
	}
}

// TestEnd: a completed or missing check run stays as it is.
func TestEnd(t *testing.T) {
	s := hub(t, githubtest.Config{})
	gone := Check{Conclusion: Cancelled, Title: "Closed"}
	end := func() {
		t.Helper()
		to, _ := publisher(t, s, pullTarget(), Options{})
		if _, err := to.End(t.Context(), gone); err != nil {
			t.Fatal(err)
		}
	}
	completed := func() bool {
		to, _ := publisher(t, s, pullTarget(), Options{})
		ok, err := to.Completed(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	end()
	if len(s.CheckRuns()) != 0 || completed() {
		t.Fatal("a check run was made")
	}
	to, _ := publisher(t, s, pullTarget(), Options{})
	if err := to.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if completed() {
		t.Error("in progress counts as complete")
	}
	end()
	if run := s.CheckRuns()[0]; run.Status != "completed" || run.Conclusion != "cancelled" || to.CheckURL() == "" {
		t.Errorf("run %+v", run)
	}
	gone.Title = "Told twice"
	end()
	if run := s.CheckRuns()[0]; run.Title != "Closed" || !completed() {
		t.Errorf("run %+v", run)
	}
}

// TestReply: each comment is answered once, also if the response to the first try is lost.
func TestReply(t *testing.T) {
	s := hub(t, githubtest.Config{})
	s.Intercept(githubtest.Rule{Method: "POST", Path: "/comments", Status: 502, After: true})
	for _, key := range []string{"11", "11", "12"} {
		p, _ := publisher(t, s, pullTarget(), Options{})
		if _, err := p.Reply(t.Context(), key, "Because of "+key+"."); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, c := range s.Comments() {
		_, text, _ := strings.Cut(c.Body, "\n")
		got = append(got, text)
	}
	if diff := cmp.Diff([]string{"Because of 11.", "Because of 12."}, got); diff != "" {
		t.Errorf("comments (-want +got):\n%s", diff)
	}
}

// TestExplain: errors of go-github become errors with a kind.
func TestExplain(t *testing.T) {
	s := hub(t, githubtest.Config{})
	p, _ := publisher(t, s, pullTarget(), Options{})
	s.Intercept(githubtest.Rule{Path: "/files", Status: http.StatusNotFound, Message: "Not Found"})
	_, _, err := p.api.PullRequests.ListFiles(t.Context(), "octo", "shop", 7, nil)
	err = Explain("ask", "pull-requests: read", err)
	if e, ok := err.(*Error); !ok || e.Kind != KindMissing || !strings.HasPrefix(e.Error(), "ask: GET /repos/octo/shop/pulls/7/files: 404") {
		t.Errorf("error %v", err)
	}
	if Explain("ask", "", nil) != nil {
		t.Error("nil does not stay nil")
	}
}
