package gittree

import (
	"fmt"
	"strings"
	"testing"
)

// TestRevisions compares with git rev-parse. A branch whose name is the beginning of a hash has precedence, as in git.
func TestRevisions(t *testing.T) {
	dir := history(t)
	first, last := runGit(t, dir, "rev-parse", "main~2"), runGit(t, dir, "rev-parse", "main")
	runGit(t, dir, "tag", "-a", "-m", "t", "inner", first)
	runGit(t, dir, "tag", "-a", "-m", "t", "outer", "inner")
	runGit(t, dir, "branch", first[:2], last)
	runGit(t, dir, "branch", first[:6], last)
	runGit(t, dir, "fetch", "-q", ".", "side", "main")
	r := open(t, dir)
	for _, rev := range []string{"@", "@~1", "HEAD~", "HEAD^", "HEAD~1~1", "HEAD^^", "main^1", "main~0", "main^0", "main^{}", "main^{commit}",
		"heads/main", "refs/heads/main", "inner", "outer", "outer^{}", "FETCH_HEAD", first, first + "^0", last[:8] + "~1", last[:7], strings.ToUpper(last[:9]),
		first[:2], first[:6], first[:6] + "~1"} {
		c, err := r.Commit(rev)
		if err != nil {
			t.Errorf("%s: %v", rev, err)
		} else if want := runGit(t, dir, "-c", "core.warnAmbiguousRefs=false", "rev-parse", rev+"^{commit}"); c.Hash() != want {
			t.Errorf("%s: %s, git has %s", rev, c.Hash(), want)
		}
	}

	runGit(t, dir, "checkout", "-q", "--orphan", "later")
	for _, rev := range []string{"HEAD", "@~1"} {
		if _, err := r.Commit(rev); err == nil || !strings.Contains(err.Error(), "HEAD is the branch later, which has no commit") {
			t.Errorf("%s of a branch without commits: %v", rev, err)
		}
	}
	runGit(t, dir, "checkout", "-q", "main")

	for rev, want := range map[string]string{
		"main@{1}": "`git rev-parse`", "main@{yesterday}": "cannot be read", "@{u}": "cannot be read", "HEAD:a": `":a" cannot be read`,
		"main^{tree}": "cannot be read", "HEAD^{/one}": "cannot be read", ":/one": "cannot be read", "HEAD^-": "cannot be read", "HEAD^@": "cannot be read",
		"main..side": "this is a range", "main...side": "this is a range", "~1": "does not begin with",
		"HEAD~20": fmt.Sprintf("the history ends before it: commit %s is the first", first[:12]), "main~99999999999999999999": "too large",
		"main^7": "so it has no ^7", first[:3]: "is not in this repository", "config": "is not in this repository", "HEAD.lock": "is not in this repository",
	} {
		if c, err := r.Commit(rev); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v %v, want %q", rev, c, err, want)
		}
	}
}
