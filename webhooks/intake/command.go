package intake

import (
	"strings"

	"github.com/preadmit/preadmit/webhooks/queue"
)

// maxFinding is the maximum number of digits of a finding's number in a command.
const maxFinding = 6

func readIssueComment(body []byte) (requested, error) {
	var e issueCommentEvent
	return read(body, &e, &e.common, e.request)
}

// request returns a command's job, if a person wrote the command in a new comment on a pull request.
// Whether that person may give commands is checked with GitHub later: the payload's
// author_association does not show who has write access.
func (e *issueCommentEvent) request() requested {
	c := &e.Comment
	command := parseCommand(c.Body)
	switch {
	case e.Action != "created":
		return noJob("only new comments are read")
	case e.Issue.PullRequest == nil:
		return noJob("the comment is not on a pull request")
	case command == "":
		return noJob("the comment is no command")
	case c.User.Type != "User" || e.Sender.Type != "User" || c.App != nil:
		return noJob("the comment is not by a person")
	case c.User.Login != e.Sender.Login || !isName(e.Sender.Login):
		return noJob("the comment's author is not its sender")
	case e.Issue.Number <= 0 || c.ID <= 0:
		return noJob("the payload's comment has no number")
	}
	return withJob(queue.Job{
		Kind: queue.KindCommand, Pull: e.Issue.Number, Command: command,
		Sender: e.Sender.Login, Comment: c.ID, Reason: "issue_comment.created",
	})
}

// parseCommand returns the command in a comment's first line, or "":
//
//	/preadmit rescan
//	/preadmit rescan SHA
//	/preadmit explain N
//
// SHA is an abbreviated commit name, 7 to 40 lower case hexadecimal digits, and N is the number of
// a finding, from 1 on. Words are separated by single spaces; spaces after the last word are
// ignored, anything else makes it no command.
func parseCommand(comment string) string {
	line, _, _ := strings.Cut(comment, "\n")
	line = strings.TrimRight(line, " \t\r")
	if line == "/preadmit rescan" {
		return line
	}
	if sha, ok := strings.CutPrefix(line, "/preadmit rescan "); ok && isCommit(sha) {
		return line
	}
	if n, ok := strings.CutPrefix(line, "/preadmit explain "); ok && isFinding(n) {
		return line
	}
	return ""
}

func isCommit(sha string) bool {
	return len(sha) >= 7 && len(sha) <= 40 && strings.Trim(sha, "0123456789abcdef") == ""
}

func isFinding(n string) bool {
	return n != "" && len(n) <= maxFinding && n[0] != '0' && strings.Trim(n, "0123456789") == ""
}
