package github

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/internal/githubtest"
)

// TestReadOnlyTokens: the error names the missing permission, and reports that the caller
// may go on.
func TestReadOnlyTokens(t *testing.T) {
	s := hub(t, githubtest.Config{ReadOnly: true, Token: "ghs_secret"})
	s.SetFiles(githubtest.File{Path: "apps/0.yaml"})
	p, _ := publisher(t, s, pullTarget(), Options{Token: "ghs_secret"})
	ctx := context.Background()
	_, sarifErr := p.UploadSARIF(ctx, []byte("{}"))
	_, finishErr := p.Finish(ctx, findings(1), CheckOptions{})
	_, commentErr := p.Comment(ctx, Comment{Body: "x"})
	for permission, err := range map[string]error{
		"checks: write": p.Start(ctx), "checks: write ": finishErr, "pull-requests: write": commentErr, "security-events: write": sarifErr,
	} {
		var refused *Error
		if !errors.As(err, &refused) {
			t.Fatalf("%v is no *Error", err)
		}
		if refused.Kind != KindForbidden || !refused.Degrades() || refused.Permission != strings.TrimSpace(permission) {
			t.Errorf("%+v, want KindForbidden and %s", refused, permission)
		}
		for _, part := range []string{"POST /repos/octo/shop/", "403 Resource not accessible by integration", strings.TrimSpace(permission)} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("error %q lacks %q", err, part)
			}
		}
		if strings.Contains(err.Error(), "ghs_secret") {
			t.Errorf("error %q holds the token", err)
		}
	}
}

func TestVanishedPullRequest(t *testing.T) {
	s := hub(t, githubtest.Config{})
	s.RemovePull(7)
	p, _ := publisher(t, s, pullTarget(), Options{})
	_, err := p.Comment(context.Background(), Comment{Body: "x"})
	var refused *Error
	if !errors.As(err, &refused) || refused.Kind != KindMissing || !refused.Degrades() || refused.Status != 404 {
		t.Errorf("error %v, want KindMissing", err)
	}
	if w := writes(s); len(w) != 0 {
		t.Errorf("wrote %v", w)
	}
}

// TestUnlistedFiles: a check run is completed without annotations if GitHub refuses to
// list the files of the pull request, but not if a retry may help.
func TestUnlistedFiles(t *testing.T) {
	for status, message := range map[int]string{403: "Resource not accessible by integration", 404: "Not Found"} {
		s := hub(t, githubtest.Config{})
		p, _ := publisher(t, s, pullTarget(), Options{})
		if err := p.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time nothing changes
			s.Intercept(githubtest.Rule{Method: "GET", Path: "/files", Status: status, Message: message})
			done, err := p.Finish(context.Background(), findings(3), CheckOptions{Summary: "x"})
			if err != nil || !done.Unannotated || !strings.Contains(done.Note, "no annotations: list the files of the pull request: ") ||
				!strings.Contains(done.Note, "pull-requests: read") {
				t.Errorf("%d: %+v %v", status, done, err)
			}
		}
		if w := writes(s); len(w) != 2 {
			t.Errorf("wrote %v", w)
		}
		run := s.CheckRuns()[0]
		if run.Status != "completed" || run.Conclusion != string(Failure) || len(run.Annotations) != 0 ||
			!strings.Contains(run.Summary, "Places without annotation: 3; for 3 it is not known whether they are") {
			t.Errorf("run %+v", run)
		}
	}
	s := hub(t, githubtest.Config{})
	p, _ := publisher(t, s, pullTarget(), Options{})
	s.Intercept(githubtest.Rule{Method: "GET", Path: "/files", Status: 502, Times: 99, Message: "no"})
	if done, err := p.Finish(context.Background(), findings(3), CheckOptions{}); err == nil {
		t.Errorf("without an answer: %+v", done)
	}
}

// TestHostileSizes: all texts are as long as possible, and GitHub accepts them.
func TestHostileSizes(t *testing.T) {
	s := hub(t, githubtest.Config{})
	long := strings.Repeat("日本語 text @user \x1b[31m\u202e", 8000)
	p, _ := publisher(t, s, pullTarget(), Options{})
	lines := strings.Repeat("日本語 @"+strings.Repeat("x", 70)+"\n", 3000)
	c := Check{
		Conclusion: Failure, Title: long, Summary: lines, Text: lines, Hidden: 3,
		Annotations: []Annotation{{Path: "a.yaml", StartLine: 1, EndLine: 2, StartColumn: 1, EndColumn: 4, Level: LevelFailure, Message: "m"}},
	}
	if _, err := p.Complete(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	run := s.CheckRuns()[0]
	if len(run.Title) > 255 {
		t.Errorf("a title of %d bytes", len(run.Title))
	}
	if len(run.Summary) < MaxSummary-500 || len(run.Text) < MaxSummary-500 {
		t.Errorf("summary of %d and text of %d bytes: more was cut than needed", len(run.Summary), len(run.Text))
	}
	r := findings(1)
	r.Findings[0].Message, r.Findings[0].Policy, r.Findings[0].Expression = long, long, long
	r.Findings[0].Object.Name, r.Findings[0].Location.Field = long, long
	r.Findings[0].Location.EndLine = 4
	changed(s, r)
	if _, err := p.Finish(context.Background(), r, CheckOptions{Summary: "x"}); err != nil {
		t.Fatal(err)
	}
	a := s.CheckRuns()[1].Annotations[0]
	if strings.ContainsAny(a.Message+a.Title+a.RawDetails, "\x1b\u202e") {
		t.Error("an annotation holds control characters")
	}
}

// TestUserTokens cannot write check runs, and comment as a user.
func TestUserTokens(t *testing.T) {
	s := hub(t, githubtest.Config{Login: "alice"})
	p, _ := publisher(t, s, pullTarget(), Options{})
	var refused *Error
	if err := p.Start(context.Background()); !errors.As(err, &refused) || !refused.Degrades() {
		t.Errorf("error %v, want one that degrades", err)
	}
	if _, err := p.Comment(context.Background(), Comment{Body: "x"}); err != nil {
		t.Error(err)
	}
	if c := s.Comments(); len(c) != 1 || c[0].Author != "alice" {
		t.Errorf("comments %+v", c)
	}
}

// TestMoreFilesThanListed: GitHub lists the first 3000 files of a pull request, so of places
// in others it is not known whether they are in it.
func TestMoreFilesThanListed(t *testing.T) {
	for n, want := range map[int]string{
		MaxFiles - 1: "1 are not in files that the pull request adds or changes.",
		MaxFiles:     "for 1 it is not known whether they are in files of the pull request, which GitHub did not list.",
	} {
		s, r := hub(t, githubtest.Config{}), findings(2)
		r.Findings[0].Location.Path, r.Findings[1].Location.Path = "listed.yaml", "other.yaml"
		files := []githubtest.File{{Path: "listed.yaml"}}
		for i := len(files); i < n; i++ {
			files = append(files, githubtest.File{Path: fmt.Sprintf("files/%d", i), Status: "removed"})
		}
		s.SetFiles(files...)
		p, _ := publisher(t, s, pullTarget(), Options{})
		if _, err := p.Finish(t.Context(), r, CheckOptions{Summary: "s"}); err != nil {
			t.Fatal(err)
		}
		if run := s.CheckRuns()[0]; len(run.Annotations) != 1 || !strings.Contains(run.Summary, want) {
			t.Errorf("%d files: %d annotations, summary %q, want %q", n, len(run.Annotations), run.Summary, want)
		}
	}
}
