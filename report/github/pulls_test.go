package github_test

import (
	"strings"
	"testing"

	"github.com/preadmit/preadmit/report/github"
)

// TestPullWithHead: a report of an untrusted run is published on the pull request whose head
// the commit is. Another pull request may have the same commit as its merge commit: anyone
// can fetch that one and push it.
func TestPullWithHead(t *testing.T) {
	sha, other := strings.Repeat("a", 40), strings.Repeat("b", 40)
	for name, test := range map[string]struct {
		refs map[string]string
		want int
	}{
		"one":              {map[string]string{"refs/pull/7/head": sha, "refs/pull/8/head": other}, 7},
		"the highest":      {map[string]string{"refs/pull/7/head": sha, "refs/pull/12/head": sha}, 12},
		"a merge commit":   {map[string]string{"refs/pull/7/head": sha, "refs/pull/8/merge": sha}, 7},
		"only a merge":     {map[string]string{"refs/pull/8/merge": sha}, 0},
		"other references": {map[string]string{"refs/pull/8/head/x": sha, "refs/pull/8": sha, "refs/pull/+9/head": sha, "refs/pull/010/head": sha, "refs/heads/pull/11/head": sha}, 0},
	} {
		if got := github.PullWithHead(test.refs, sha); got != test.want {
			t.Errorf("%s: got pull request %d, want %d", name, got, test.want)
		}
	}
}
