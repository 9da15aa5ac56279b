package pages_test

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// TestUnchecked checks that only the repository for which GitHub does not answer is missing in a list,
// and that the list names it.
func TestUnchecked(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]githubtest.Rule{
		"broken": {Status: 502}, "limited": {Status: 429, Message: "You have exceeded a secondary rate limit"}, "silent": {Delay: 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newEnv(t)
			rule.Method, rule.Path, rule.Times = "GET", "/repos/octo/shop", 2
			alice, got := w.as("alice", "/")
			w.wants(got.body, "octo/shop", "octo/open", "!Not all is here")
			eve, _ := w.as("eve", "/none")
			w.clock.pass(61 * time.Second)
			w.hub.Intercept(rule)

			w.wants(alice.get("/", 200).body, "octo/open", "!/scans/"+id(1),
				"Your access to octo/shop could not be checked with GitHub.")
			w.wants(eve.get("/", 200).body, "octo/open", "!octo/shop", "Your access to some repositories could not be checked with GitHub.")
			w.wants(alice.get("/", 200).body, "octo/open", "octo/shop", "!Not all is here")
		})
	}
}

// TestNothingChecked checks that without any answer of GitHub there is no list.
func TestNothingChecked(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	alice, _ := w.as("alice", "/none")
	for _, path := range []string{"/repos/octo/shop", "/repos/octo/open"} {
		w.hub.Intercept(githubtest.Rule{Method: "GET", Path: path, Status: 502})
	}
	w.wants(alice.get("/", 503).body, "GitHub does not answer", "!octo/")
	alice.get("/", 200)
}

// TestFewAmongMany checks that a viewer who may read one repository of many sees its scans at once.
func TestFewAmongMany(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	hidden := func(from, to int) {
		for n := from; n < to; n++ {
			w.put(scanOf(100+n), func(s *queue.Scan) {
				s.Repository, s.Repo, s.Created = int64(100_000+n), fmt.Sprintf("hidden-%d", n), s.Created.Add(time.Hour)
			})
		}
	}
	hidden(0, 150)
	eve, got := w.as("eve", "/")
	w.wants(got.body, "octo/open", "!hidden")
	hidden(150, 250)
	w.clock.pass(61 * time.Second)
	body := eve.get("/", 200).body
	w.wants(body, "Of the newest scans none is of a repository that you may read.", "!octo/open", "!hidden")
	next := regexp.MustCompile(`href="(/\?before=[^"]+)"`).FindStringSubmatch(body)
	if next == nil {
		t.Fatalf("there is no way on: %s", body)
	}
	w.wants(eve.get(next[1], 200).body, "octo/open", "!hidden")
}
