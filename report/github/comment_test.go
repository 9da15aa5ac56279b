package github

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/report"
)

func comment(t *testing.T, s *githubtest.Server, c Comment) Published {
	t.Helper()
	p, _ := publisher(t, s, pullTarget(), Options{})
	out, err := p.Comment(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// text returns the text of a comment between its marker and the commit, which it must name.
func text(t *testing.T, c githubtest.Comment) string {
	t.Helper()
	body, begins := strings.CutPrefix(c.Body, commentMarker(DefaultName)+"\n")
	body, ends := strings.CutSuffix(body, "\n\n<sub>About the commit "+pullTarget().HeadSHA+"</sub>\n")
	if !begins || !ends {
		t.Errorf("the comment lacks its marker or its commit: %q", c.Body)
	}
	return body
}

// TestCommentLife: a comment is created, kept, edited, turned green, kept, turned red, removed.
func TestCommentLife(t *testing.T) {
	s := hub(t, githubtest.Config{})
	steps := []struct {
		comment Comment
		writes  []string
		body    string // "" for none
	}{
		{Comment{}, []string{}, ""},
		{Comment{Remove: true}, []string{}, ""},
		{Comment{Body: "none", Corrects: true}, []string{}, ""},
		{Comment{Body: "one"}, []string{"POST comments 201"}, "one"},
		{Comment{Body: "one"}, []string{}, "one"},
		{Comment{Body: "two\n"}, []string{"PATCH 1001 200"}, "two\n"},
		{Comment{}, []string{"PATCH 1001 200"}, defaultGreen},
		{Comment{}, []string{}, defaultGreen},
		{Comment{Green: "all well"}, []string{"PATCH 1001 200"}, "all well"},
		{Comment{Body: "three"}, []string{"PATCH 1001 200"}, "three"},
		{Comment{Body: "four", Corrects: true}, []string{"PATCH 1001 200"}, "four"},
		{Comment{Remove: true}, []string{"DELETE 1001 204"}, ""},
		{Comment{Remove: true}, []string{}, ""},
	}
	for i, step := range steps {
		s.Forget()
		out := comment(t, s, step.comment)
		if diff := cmp.Diff(step.writes, writes(s)); diff != "" {
			t.Errorf("step %d writes (-want +got):\n%s", i, diff)
		}
		if out.Changed != (len(step.writes) > 0) {
			t.Errorf("step %d says changed %v", i, out.Changed)
		}
		var got string
		if c := s.Comments(); len(c) > 0 {
			got = text(t, c[0])
		}
		if got != step.body {
			t.Errorf("step %d: the comment is %q, want %q", i, got, step.body)
		}
	}
}

// TestForgedMarkersAreIgnored: markers of other authors, and quoted by our own login.
func TestForgedMarkersAreIgnored(t *testing.T) {
	s := hub(t, githubtest.Config{PageSize: 3})
	marker := commentMarker(DefaultName)
	forged := []githubtest.Comment{
		{Pull: 7, Author: "mallory", Body: marker + "\nforged"},
		{Pull: 7, Author: "github-actions", Body: marker + "\nforged"},
		{Pull: 7, Author: "evil[bot]", Body: marker + "\nforged"},
		{Pull: 7, Author: "github-actions[bot]", Body: "> mallory wrote:\n" + marker + "\nforged"},
		{Pull: 7, Author: "github-actions[bot]", Body: "lgtm " + marker},
		{Pull: 7, Author: "github-actions[bot]", Body: commentMarker("another check") + "\nnot ours"},
	}
	for _, c := range forged {
		s.AddComment(c)
	}
	for range 2 {
		comment(t, s, Comment{Body: "real"})
	}
	got := s.Comments()
	if len(got) != len(forged)+1 || text(t, got[len(forged)]) != "real" {
		t.Fatalf("comments %+v, want one real one behind the forged", got)
	}
	for i, c := range forged {
		if got[i].Body != c.Body {
			t.Errorf("comment %d was changed to %q", i, got[i].Body)
		}
	}
	if diff := cmp.Diff([]string{"POST comments 201"}, writes(s)); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

// TestCommentsOfTwoRunsBecomeOne: the oldest stays.
func TestCommentsOfTwoRunsBecomeOne(t *testing.T) {
	s := hub(t, githubtest.Config{})
	body := commentMarker(DefaultName) + "\nsame"
	for range 2 {
		s.AddComment(githubtest.Comment{Pull: 7, Author: "github-actions[bot]", Body: body})
	}
	comment(t, s, Comment{Body: "same"})
	if c := s.Comments(); len(c) != 1 || c[0].ID != 1001 {
		t.Errorf("comments %+v, want the first only", c)
	}
}

func TestCommentIsMadeOnceAlthoughTheAnswerIsLost(t *testing.T) {
	s := hub(t, githubtest.Config{})
	s.Intercept(githubtest.Rule{Method: "POST", Path: "/comments", Status: 502, After: true})
	s.Intercept(githubtest.Rule{Method: "POST", Path: "/comments", Status: 500})
	out := comment(t, s, Comment{Body: "x"})
	if c := s.Comments(); len(c) != 1 || out.URL == "" {
		t.Errorf("comments %+v at %q, want one", c, out.URL)
	}
}

func TestLongComments(t *testing.T) {
	s := hub(t, githubtest.Config{})
	line := strings.Repeat("語", 99) + "\n"
	comment(t, s, Comment{Body: strings.Repeat(line, 1000)})
	body := s.Comments()[0].Body
	if n := utf8.RuneCountInString(body); n > MaxComment || n < MaxComment-300 {
		t.Errorf("%d characters, want almost %d", n, MaxComment)
	}
	text(t, s.Comments()[0])
	if !strings.Contains(body, "more lines do not fit") || !strings.Contains(body, "<https://github.com/octo/shop/actions/runs/1>") {
		t.Errorf("the end does not tell: %q", body[len(body)-200:])
	}
}

func TestNoPullRequestNoComment(t *testing.T) {
	s := hub(t, githubtest.Config{})
	target := pullTarget()
	target.Pull, target.Ref = 0, "refs/heads/main"
	p, _ := publisher(t, s, target, Options{})
	out, err := p.Comment(context.Background(), Comment{Body: "x"})
	if err != nil || out.Note == "" || len(s.Requests()) > 0 {
		t.Errorf("%+v, %v after %d requests, want a notice and none", out, err, len(s.Requests()))
	}
}

func TestSpeaks(t *testing.T) {
	of := func(status report.Status) *report.Report {
		r := findings(1)
		r.Findings[0].Status = status
		return r
	}
	unjudged := func(untouched bool) *report.Report {
		return &report.Report{Indeterminate: []report.Indeterminate{{Untouched: untouched}}}
	}
	for name, test := range map[string]struct {
		report             *report.Report
		existing, speaking bool
	}{
		"nothing":            {&report.Report{}, true, false},
		"new":                {of(report.StatusNew), false, true},
		"resolved":           {of(report.StatusResolved), false, true},
		"existing":           {of(report.StatusExisting), false, false},
		"existing, asked":    {of(report.StatusExisting), true, true},
		"unjudged":           {unjudged(false), false, true},
		"unjudged, as ever":  {unjudged(true), false, false},
		"unjudged and asked": {unjudged(true), true, true},
	} {
		if got := NeedsComment(test.report, test.existing); got != test.speaking {
			t.Errorf("%s: %v, want %v", name, got, test.speaking)
		}
	}
}

// TestVanishedCommentIsAsGoodAsDeleted: any refusal other than 404 is an error.
func TestVanishedCommentIsAsGoodAsDeleted(t *testing.T) {
	for status, fails := range map[int]bool{404: false, 403: true} {
		s := hub(t, githubtest.Config{})
		comment(t, s, Comment{Body: "x"})
		s.Intercept(githubtest.Rule{Method: "DELETE", Status: status, Message: "no"})
		p, _ := publisher(t, s, pullTarget(), Options{})
		if _, err := p.Comment(context.Background(), Comment{Remove: true}); (err != nil) != fails {
			t.Errorf("%d: error %v", status, err)
		}
	}
}

// TestNobodyIsNotAnAuthor: if GitHub does not return the login of the token, no comment can
// be recognized as ours, and none is created.
func TestNobodyIsNotAnAuthor(t *testing.T) {
	s := hub(t, githubtest.Config{})
	s.Intercept(githubtest.Rule{Path: "/graphql", Status: 200, Message: "nothing"})
	p, _ := publisher(t, s, pullTarget(), Options{})
	if _, err := p.Comment(context.Background(), Comment{Body: "x"}); err == nil || !strings.Contains(err.Error(), "set the login") {
		t.Errorf("error %v, want one that tells to set the login", err)
	}
	if w := writes(s); len(w) != 0 {
		t.Errorf("wrote %v", w)
	}
}
