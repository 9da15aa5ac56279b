package github

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/internal/githubtest"
)

func TestSARIFGoesToItsRefAndCommit(t *testing.T) {
	for ref, sha := range map[string]string{"refs/pull/7/merge": merge, "refs/pull/7/head": "", "refs/heads/main": ""} {
		s := hub(t, githubtest.Config{})
		target := pullTarget()
		target.Ref, target.RefSHA = ref, sha
		p, _ := publisher(t, s, target, Options{})
		out, err := p.UploadSARIF(context.Background(), []byte(`{"version":"2.1.0"}`))
		if err != nil || !out.Changed || out.Note != "" {
			t.Fatalf("%s: %+v, %v", ref, out, err)
		}
		commit := head
		if sha != "" {
			commit = sha
		}
		want := []githubtest.SARIF{{Repo: "octo/shop", CommitSHA: commit, Ref: ref, Log: []byte(`{"version":"2.1.0"}`)}}
		if diff := cmp.Diff(want, s.SARIFs()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", ref, diff)
		}
	}
}

// TestSARIFIsRemembered: the check run records the upload, so that the same file is not
// uploaded again, but another one is.
func TestSARIFIsRemembered(t *testing.T) {
	s := hub(t, githubtest.Config{})
	ctx := context.Background()
	for i, step := range []struct {
		sarif  string
		writes []string
	}{
		{`{"a":1}`, []string{"POST sarifs 202", "POST check-runs 201", "PATCH 1001 200"}},
		{`{"a":1}`, []string{}},
		{`{"a":2}`, []string{"POST sarifs 202", "PATCH 1001 200"}},
		{"", []string{}},
		{`{"a":2}`, []string{}},
	} {
		s.Forget()
		p, _ := publisher(t, s, pullTarget(), Options{})
		if step.sarif != "" {
			if _, err := p.UploadSARIF(ctx, []byte(step.sarif)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := p.Complete(ctx, Check{Conclusion: Success, Title: "t", Summary: "s"}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(step.writes, writes(s)); diff != "" {
			t.Errorf("step %d writes (-want +got):\n%s", i, diff)
		}
	}
	if n := len(s.CheckRuns()); n != 1 {
		t.Errorf("%d check runs, want 1", n)
	}
}

func TestSARIFNotices(t *testing.T) {
	// Random data, which gzip cannot compress.
	big := make([]byte, 12<<20)
	random := rand.NewChaCha8([32]byte{})
	_, _ = random.Read(big) // never fails
	for name, test := range map[string]struct {
		config githubtest.Config
		rule   *githubtest.Rule
		ref    string
		sarif  []byte
		want   string
	}{
		"queue":       {ref: "refs/heads/gh-readonly-queue/main/pr-7-1111", want: "merge queue"},
		"not enabled": {config: githubtest.Config{NoCodeScanning: true}, want: "Advanced Security must be enabled"},
		"missing":     {rule: &githubtest.Rule{Status: 404, Message: "Not Found"}, want: "404 Not Found"},
		"too large":   {sarif: big, want: fmt.Sprint(MaxSARIF)},
		"413":         {rule: &githubtest.Rule{Status: 413, Message: "Payload Too Large"}, want: "413 Payload Too Large"},
	} {
		s := hub(t, test.config)
		if test.rule != nil {
			test.rule.Path = "/sarifs"
			s.Intercept(*test.rule)
		}
		target := pullTarget()
		if test.ref != "" {
			target.Ref = test.ref
		}
		if test.sarif == nil {
			test.sarif = []byte("{}")
		}
		p, _ := publisher(t, s, target, Options{})
		out, err := p.UploadSARIF(context.Background(), test.sarif)
		if err != nil || out.Changed || !strings.Contains(out.Note, test.want) {
			t.Errorf("%s: %+v, %v, want a notice on %q", name, out, err, test.want)
		}
		if n := len(s.SARIFs()); n != 0 {
			t.Errorf("%s: %d uploads", name, n)
		}
	}
}

// TestSARIFIsTriedAgain: an upload replaces the previous one, so it may be repeated after a
// lost response.
func TestSARIFIsTriedAgain(t *testing.T) {
	s := hub(t, githubtest.Config{})
	s.Intercept(githubtest.Rule{Path: "/sarifs", Status: 503, Times: 2})
	p, c := publisher(t, s, pullTarget(), Options{})
	out, err := p.UploadSARIF(context.Background(), []byte("{}"))
	if err != nil || !out.Changed || len(c.slept) != 2 {
		t.Errorf("%+v, %v after %v", out, err, c.slept)
	}
}

func TestSARIFThatIsRejected(t *testing.T) {
	s := hub(t, githubtest.Config{})
	s.Intercept(githubtest.Rule{Path: "/sarifs", Status: 400, Message: "commit not found"})
	p, _ := publisher(t, s, pullTarget(), Options{})
	_, err := p.UploadSARIF(context.Background(), []byte("{}"))
	var refused *Error
	if !errors.As(err, &refused) || refused.Kind != KindRejected || refused.Degrades() {
		t.Errorf("error %v, want KindRejected", err)
	}
}

func TestSARIFNeedsARef(t *testing.T) {
	s := hub(t, githubtest.Config{})
	target := pullTarget()
	target.Ref = ""
	p, _ := publisher(t, s, target, Options{})
	if _, err := p.UploadSARIF(context.Background(), []byte("{}")); err == nil || len(s.Requests()) > 0 {
		t.Errorf("error %v, want one before anything is asked", err)
	}
}

// TestSARIFNeedsNoCheckRuns: SARIF is uploaded even if the token may not read check runs.
func TestSARIFNeedsNoCheckRuns(t *testing.T) {
	s := hub(t, githubtest.Config{})
	s.Intercept(githubtest.Rule{Method: "GET", Path: "/check-runs", Status: 403, Message: "Resource not accessible by integration"})
	p, _ := publisher(t, s, pullTarget(), Options{})
	if out, err := p.UploadSARIF(context.Background(), []byte("{}")); err != nil || !out.Changed || len(s.SARIFs()) != 1 {
		t.Errorf("%+v, %v, and %d uploads", out, err, len(s.SARIFs()))
	}
}
