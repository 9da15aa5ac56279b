package pages_test

import (
	"testing"
	"time"

	"github.com/preadmit/preadmit/report/github/githubtest"
)

// TestUnchecked: a repository that GitHub cannot be asked about is missing in a list, which
// says so, and nothing else is.
func TestUnchecked(t *testing.T) {
	for name, rule := range map[string]githubtest.Rule{
		"broken": {Status: 502}, "limited": {Status: 429, Message: "You have exceeded a secondary rate limit"}, "silent": {Delay: 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			rule.Method, rule.Path, rule.Times = "GET", "/repos/octo/shop", 2
			alice, got := w.as("alice", "/")
			w.wants(got.body, "octo/shop", "octo/open", "!Not all is here")
			eve, _ := w.as("eve", "/none")
			w.clock.pass(61 * time.Second)
			w.hub.Intercept(rule)

			w.wants(alice.get("/", 200).body, "octo/open", "!/scans/"+id(1),
				"GitHub could not be asked whether you may read octo/shop.")
			w.wants(eve.get("/", 200).body, "octo/open", "!octo/shop", "GitHub could not be asked whether you may read some repositories.")
			w.wants(alice.get("/", 200).body, "octo/open", "octo/shop", "!Not all is here")
		})
	}
}

// TestNothingChecked: without any answer of GitHub there is no list.
func TestNothingChecked(t *testing.T) {
	w := newWorld(t)
	alice, _ := w.as("alice", "/none")
	for _, path := range []string{"/repos/octo/shop", "/repos/octo/open"} {
		w.hub.Intercept(githubtest.Rule{Method: "GET", Path: path, Status: 502})
	}
	w.wants(alice.get("/", 503).body, "GitHub does not answer", "!octo/")
	alice.get("/", 200)
}
