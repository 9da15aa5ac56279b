package service

import (
	"slices"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/internal/githubtest"
)

// TestOutsiders: commands by users without write access get no reply and no scan, on any
// pull request; comments that are no commands get nothing at all.
func TestOutsiders(t *testing.T) {
	w := newEnv(t)
	r := w.start(t.TempDir(), options{"RECONCILE_EVERY": "0s"})
	w.shop.SetRole("alice", "write")
	w.shop.SetRole("trish", "triage")
	fork, err := w.shop.Fork("eve")
	w.must(err)
	head, err := fork.Push("change", githubtest.Files{"app/new.yaml": configMap("new", "deny")})
	w.must(err)
	number, err := w.shop.OpenPull(githubtest.PullOptions{Head: "change", From: fork})
	w.must(err)
	w.judged(head, "failure", denied)
	writes := w.writes()

	asked := map[int64]bool{} // whether a comment is a command, by its ID
	say := func(who, text string, command bool) {
		id, err := w.shop.Comment(number, who, text)
		w.must(err)
		asked[id] = command
	}
	for _, who := range []string{"eve", "trish", "mallory", "nobody-of-that-name", "dependabot[bot]"} {
		for _, text := range []string{
			"/preadmit rescan", "/preadmit explain 1", "/preadmit rescan\n/preadmit explain 1\n::error::x", "/preadmit explain 1   ",
		} {
			say(who, text, who != "dependabot[bot]") // bots cannot use commands
		}
	}
	for _, text := range []string{
		"please /preadmit rescan", "> /preadmit rescan", "`/preadmit rescan`", "/preadmit\u200b rescan", "/preadmit rescan --now; id",
		"\x1b[2J/preadmit rescan", "/preadmit explain 1 $(id)", "/PREADMIT RESCAN", strings.Repeat("/preadmit rescan ", 3000),
	} {
		say("eve", text, false)
	}
	r.quiet()
	if got := conclusions(w.checks(head)); !slices.Equal(got, []string{"failure"}) {
		t.Errorf("an outsider had it judged again: %q", got)
	}
	w.told(w.shop, number, "the key deny is not for us")
	commands, refused := 0, 0
	for _, c := range w.hub.Comments() {
		command, theirs := asked[c.ID]
		if command {
			commands++
		}
		switch {
		case !theirs:
		case len(c.Reactions) > 1, len(c.Reactions) == 1 && c.Reactions[0] != "-1 "+w.app.Slug+"[bot]", !command && len(c.Reactions) > 0:
			t.Errorf("%.60q by %s is answered %q", c.Body, c.Author, c.Reactions)
		case len(c.Reactions) == 1:
			refused++
		}
	}
	if n := w.writes() - writes; refused != commands || commands == 0 || n != refused {
		t.Errorf("%d of %d commands were refused by %d requests that write", refused, commands, n)
	}
	say("alice", "/preadmit rescan", true)
	w.eventually("check runs", func() []string { return conclusions(w.checks(head)) }, "failure", "failure")
	t.Logf("%d comments by outsiders, %d refused by a reaction", len(asked)-1, refused)
}
