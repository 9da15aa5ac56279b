package worker

import (
	"strings"
	"testing"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// reactions returns the reactions to a comment.
func (w *env) reactions(id int64) []string {
	for _, c := range w.hub.Comments() {
		if c.ID == id {
			return append([]string{}, c.Reactions...)
		}
	}
	return nil
}

// replies returns the App's comments except reports.
func (w *env) replies() []string {
	out := []string{}
	for _, c := range w.hub.Comments() {
		_, text, marked := strings.Cut(c.Body, "\n")
		if marked && strings.HasPrefix(c.Body, "<!-- preadmit:reply ") {
			out = append(out, text)
		}
	}
	return out
}

func TestCommand(t *testing.T) {
	for _, test := range []struct {
		name, author, role, command string
		unjudged                    bool // before
		reaction                    string
		scans                       int
		reply                       string // its beginning
	}{
		{name: "owner", author: "octo", command: rescan, reaction: "eyes", scans: 2},
		{name: "writer", author: "alice", role: "write", command: rescan, reaction: "eyes", scans: 2},
		{name: "maintainer", author: "alice", role: "maintain", command: rescan, reaction: "eyes", scans: 2},
		{name: "triage", author: "alice", role: "triage", command: rescan, reaction: "-1", scans: 1},
		{name: "reader", author: "alice", role: "read", command: rescan, reaction: "-1", scans: 1},
		{name: "outsider", author: "mallory", command: rescan, reaction: "-1", scans: 1},
		{name: "unknown", author: "nobody-of-that-name", command: rescan, reaction: "-1", scans: 1},
		{name: "outsider explains", author: "mallory", command: "/preadmit explain 1", reaction: "-1", scans: 1},
		{name: "explain", author: "octo", command: "/preadmit explain 1", reaction: "+1", scans: 1, reply: "Finding 1 of 1:\n\n### :x: preadmit: 1 denied"},
		{name: "no such finding", author: "octo", command: "/preadmit explain 2", reaction: "+1", scans: 1,
			reply: "There is no finding 2: the change has 1.\n\n1. `app/new.yaml:5` `no-deny`\n"},
		{name: "no report", author: "octo", command: "/preadmit explain 1", unjudged: true, reaction: "confused"},
		{name: "no number", author: "octo", command: "/preadmit explain 99999999999999999999", reaction: "confused", scans: 1},
		{name: "no command", author: "octo", command: "/preadmit dance", reaction: "confused", scans: 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newEnv(t)
			w.scanner.keep = true
			if test.role != "" {
				w.shop.SetRole(test.author, test.role)
			}
			if !test.unjudged {
				w.pull()
				w.work()
			}
			id := w.comment(1, test.author, test.command+"\nand more")
			w.work()
			w.want("reactions", w.reactions(id), []string{test.reaction + " preadmit[bot]"})
			w.want("scans", w.scanner.count(), test.scans)
			replies := w.replies()
			switch {
			case test.reply == "" && len(replies) > 0, test.reply != "" && (len(replies) != 1 || !strings.HasPrefix(replies[0], test.reply)):
				t.Errorf("replies %q, want %q", replies, test.reply)
			}
			// The same job again, as after a crash, does not reply again.
			w.enqueue(queue.Job{Kind: queue.KindCommand, Pull: 1, Command: test.command, Sender: test.author, Comment: id})
			w.work()
			w.want("replies to the same", len(w.replies()), len(replies))
			w.want("reactions to the same", len(w.reactions(id)), 1)
		})
	}
}

// TestCommandGone checks that a command is not executed if the comment no longer has it, or is by
// somebody else.
func TestCommandGone(t *testing.T) {
	w := newEnv(t)
	edited := w.hub.AddComment(githubtest.Comment{Pull: 1, Author: "octo", Body: "/preadmit no"})
	foreign := w.hub.AddComment(githubtest.Comment{Pull: 1, Author: "mallory", Body: rescan})
	for _, id := range []int64{edited, foreign, 424242} {
		w.enqueue(queue.Job{Kind: queue.KindCommand, Pull: 1, Command: rescan, Sender: "octo", Comment: id})
	}
	w.work()
	w.want("scans", w.scanner.count(), 0)
	w.want("writes", writes(w), []string{})
}

// TestCommandOnClosed checks that a closed pull request is not judged.
func TestCommandOnClosed(t *testing.T) {
	w := newEnv(t)
	w.must(w.shop.ClosePull(1))
	id := w.comment(1, "octo", rescan)
	w.work()
	w.want("reactions", w.reactions(id), []string{"confused preadmit[bot]"})
	w.want("scans", w.scanner.count(), 0)
}

// TestExplanationIsEscaped checks that text of a repository is not interpreted as Markdown, and mentions
// nobody.
func TestExplanationIsEscaped(t *testing.T) {
	r := &report.Report{Findings: []report.Finding{
		{Status: report.StatusExisting, Policy: "old"},
		{Status: report.StatusNew, Policy: "@all `x", Message: "<img src=x> @octo/team", Action: report.ActionDeny, Location: report.Location{Path: "a`b.yaml", StartLine: 1}},
	}}
	for n, want := range map[int]string{1: "Finding 1 of 1:", 2: "1. ``a`b.yaml:1`` ``@all `x``"} {
		text, err := explanation(r, n, "https://github.com/o/r/blob/x/")
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("%d: %v, want %q:\n%s", n, err, want, text)
		}
		for _, line := range strings.Split(text, "\n") {
			if strings.Contains(line, "<img") && !strings.Contains(line, "`") {
				t.Errorf("%d: not in code: %q", n, line)
			}
		}
	}
}
