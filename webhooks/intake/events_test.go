package intake

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/webhooks/queue"
)

// TestExamples checks that every example gives the result in testdata/examples.golden. Only webhooks
// of Apps have an installation: examples without one are sent unchanged, and then with one.
func TestExamples(t *testing.T) {
	t.Parallel()
	d := open(t, embedded(t))
	var table bytes.Buffer
	for _, e := range readExamples(t) {
		line := d.outcome(e.event, encode(t, e.payload))
		if e.payload["installation"] == nil && strings.Contains(line, "no installation") {
			e.payload["installation"] = map[string]any{"id": 1, "node_id": "MDIzOkludGVncmF0aW9uSW5zdGFsbGF0aW9uMQ=="}
			line = d.outcome(e.event, encode(t, e.payload)) + " (installation added)"
		}
		action, _ := e.payload["action"].(string)
		fmt.Fprintf(&table, "%-28s %-24s %2d  %s\n", e.event, cmp.Or(action, "-"), e.number, line)
	}
	golden(t, "testdata/examples.golden", table.Bytes())
}

// outcome delivers a payload, and returns the response and the job on one line.
func (d *server) outcome(event string, body []byte) string {
	d.t.Helper()
	status, text := d.deliver(event, body)
	jobs := d.queue.taken()
	if status >= 500 || (status == http.StatusAccepted) != (len(jobs) == 1) || len(jobs) > 1 {
		d.t.Errorf("%s: %d %s with the jobs %+v", event, status, text, jobs)
	}
	if len(jobs) == 0 {
		return fmt.Sprintf("%d %s", status, strings.TrimSpace(text))
	}
	return fmt.Sprintf("%d %s", status, describe(jobs[0]))
}

// describe returns a job on one line.
func describe(j queue.Job) string {
	line := []string{string(j.Kind), j.Subject()}
	add := func(name string, value any, is bool) {
		if is {
			line = append(line, fmt.Sprintf("%s=%v", name, value))
		}
	}
	short := func(s string) string { return s[:min(len(s), 7)] }
	add("repository", j.Owner+"/"+j.Repo, j.Repo != "")
	add("pull", j.Pull, j.Pull != 0)
	add("head", short(j.Head), j.Head != "")
	add("base", short(j.Base), j.Base != "")
	add("ref", j.Ref, j.Ref != "")
	add("repositories", j.Repositories, j.Repositories != nil)
	add("command", fmt.Sprintf("%q", j.Command), j.Command != "")
	add("comment", j.Comment, j.Comment != 0)
	add("sender", j.Sender, j.Sender != "")
	add("fresh", j.Fresh, j.Fresh)
	add("cancel", j.Cancel, j.Cancel)
	add("reason", j.Reason, true)
	return strings.Join(line, " ")
}

// made is a payload that is not among the examples: an example with changes.
type made struct {
	name string
	// from is an example like "pull_request.opened", the first that is valid by GitHub's
	// description.
	from string
	// set are fields with new values; drop are removed fields.
	set  map[string]any
	drop []string
	// undescribed is set for what GitHub sends although its description does not permit it.
	undescribed bool
}

const (
	oldHead = "5bd5f196a46b8222fb7484f05faba41a73cf34bd"
	newHead = "0cac7e27ee4c1d949ae4418899e5d5f206e393f6"
)

// byHand returns payloads that GitHub documents without an example, and other important ones.
func byHand() []made {
	return []made{
		{name: "opened from a fork", from: "pull_request.opened", set: map[string]any{
			"pull_request.head.repo.id": 999, "pull_request.head.repo.fork": true,
			"pull_request.head.repo.full_name": "stranger/Hello-World", "pull_request.head.sha": newHead}},
		// According to the API's description of pull requests, head.repo may be null.
		{name: "closed when the head's repository was deleted", from: "pull_request.closed", undescribed: true,
			set: map[string]any{"pull_request.head.repo": nil, "pull_request.head.user": nil}},
		{name: "force push", from: "pull_request.synchronize", set: map[string]any{
			"before": oldHead, "after": newHead, "pull_request.head.sha": newHead}},
		{name: "another base", from: "pull_request.edited", set: map[string]any{
			"changes": map[string]any{"base": map[string]any{"ref": map[string]any{"from": "main"}, "sha": map[string]any{"from": oldHead}}}}},
		{name: "another title", from: "pull_request.edited", set: map[string]any{
			"changes": map[string]any{"title": map[string]any{"from": "Base"}}}},
		{name: "another base of a draft", from: "pull_request.edited", set: map[string]any{"pull_request.draft": true,
			"changes": map[string]any{"base": map[string]any{"ref": map[string]any{"from": "main"}, "sha": map[string]any{"from": oldHead}}}}},
		{name: "opened as a draft", from: "pull_request.opened", set: map[string]any{"pull_request.draft": true}},
		{name: "closed without a merge", from: "pull_request.closed", set: map[string]any{"pull_request.merged": false}},
		{name: "objects named by SHA-256", from: "pull_request.opened", set: map[string]any{
			"pull_request.head.sha": strings.Repeat("ab", 32), "pull_request.base.sha": strings.Repeat("cd", 32)}},
		{name: "merge group taken from the queue", from: "merge_group.destroyed", set: map[string]any{"reason": "dequeued"}},
		{name: "merge group that was merged", from: "merge_group.destroyed", set: map[string]any{"reason": "merged"}},
		{name: "re-run in a fork", from: "check_run.requested_action", drop: []string{"requested_action"}, set: map[string]any{
			"action": "rerequested", "check_run.app.id": ourApp, "check_run.pull_requests": []any{},
			"check_run.check_suite.pull_requests": []any{}, "check_run.check_suite.head_branch": nil}},
		{name: "re-run by another App", from: "check_run.requested_action", drop: []string{"requested_action"}, set: map[string]any{
			"action": "rerequested"}},
		{name: "re-run of one pull request", from: "check_run.requested_action", drop: []string{"requested_action"}, set: map[string]any{
			"action": "rerequested", "check_run.app.id": ourApp}},
		{name: "re-run of a commit with a pull request elsewhere", from: "check_suite.rerequested", set: map[string]any{"repository.id": 77}},
		{name: "re-run of a whole suite in a fork", from: "check_suite.rerequested", set: map[string]any{
			"check_suite.pull_requests": []any{}, "check_suite.head_branch": nil}},
		{name: "our button", from: "check_run.requested_action", set: map[string]any{
			"check_run.app.id": ourApp, "requested_action.identifier": "rescan"}},
		{name: "a button we do not have", from: "check_run.requested_action", set: map[string]any{"check_run.app.id": ourApp}},
		{name: "push to the default branch", from: "push", set: map[string]any{
			"ref": "refs/heads/master", "deleted": false, "created": false, "after": newHead}},
		{name: "the default branch deleted", from: "push", set: map[string]any{
			"ref": "refs/heads/master", "deleted": true, "after": strings.Repeat("0", 40), "head_commit": nil, "commits": []any{}}},
		{name: "push of a tag named like the default branch", from: "push", set: map[string]any{
			"ref": "refs/tags/master", "deleted": false, "after": newHead}},
		{name: "rescan", from: "issue_comment.created", set: comment("/preadmit rescan\r\n\r\nPlease.")},
		{name: "explain", from: "issue_comment.created", set: comment("/preadmit explain 12")},
		{name: "rescan on an issue", from: "issue_comment.created", set: map[string]any{"comment.body": "/preadmit rescan"},
			drop: []string{"issue.pull_request"}},
		{name: "rescan by a bot", from: "issue_comment.created", set: with(comment("/preadmit rescan"), "comment.user.type", "Bot")},
		{name: "rescan by an App for a user", from: "issue_comment.created",
			set: with(comment("/preadmit rescan"), "comment.performed_via_github_app", exampleApp())},
		{name: "rescan sent by another", from: "issue_comment.created", set: with(comment("/preadmit rescan"), "sender.login", "mallory")},
		{name: "rescan edited in", from: "issue_comment.edited", set: comment("/preadmit rescan")},
		{name: "all repositories removed at once", from: "installation_repositories.removed", set: map[string]any{"repositories_removed": []any{}}},
	}
}

func comment(body string) map[string]any {
	return map[string]any{
		"comment.body": body, "comment.performed_via_github_app": nil,
		"issue.pull_request": map[string]any{
			"url": "https://api.github.com/repos/o/r/pulls/1", "html_url": "https://github.com/o/r/pull/1",
			"diff_url": "https://github.com/o/r/pull/1.diff", "patch_url": "https://github.com/o/r/pull/1.patch"},
	}
}

func with(fields map[string]any, path string, value any) map[string]any {
	fields[path] = value
	return fields
}

func exampleApp() map[string]any {
	return map[string]any{
		"id": 5, "node_id": "A_5", "slug": "a", "name": "a", "owner": exampleUser(), "description": nil,
		"external_url": "https://a.example", "html_url": "https://github.com/apps/a",
		"created_at": "2020-01-01T00:00:00Z", "updated_at": "2020-01-01T00:00:00Z",
		"permissions": map[string]any{}, "events": []any{},
	}
}

func exampleUser() map[string]any {
	user := map[string]any{"login": "a", "id": 6, "node_id": "U_6", "gravatar_id": "", "type": "User", "site_admin": false, "url": "https://api.github.com/users/a"}
	for _, what := range strings.Fields("avatar html followers following gists starred subscriptions organizations repos events received_events") {
		user[what+"_url"] = "https://api.github.com/users/a/" + what
	}
	return user
}

// TestByHand checks that the payloads of byHand, which match GitHub's description, give the jobs in
// testdata/byhand.golden.
func TestByHand(t *testing.T) {
	t.Parallel()
	d := open(t, embedded(t))
	known := readExamples(t)
	var table bytes.Buffer
	for _, m := range byHand() {
		payload := m.make(t, known)
		event, _, _ := strings.Cut(m.from, ".")
		if payload["installation"] == nil {
			payload["installation"] = map[string]any{"id": 1, "node_id": "MDIz"}
		}
		name := event
		if action, ok := payload["action"].(string); ok {
			name += "-" + action
		}
		if name = strings.ReplaceAll(name, "_", "-"); slices.Contains(handled(), name) && !m.undescribed {
			if err := schemaOf(t, name).Validate(payload); err != nil {
				t.Errorf("%s: GitHub would send no such %s: %v", m.name, name, err)
			}
		}
		fmt.Fprintf(&table, "%-50s %s\n", m.name, d.outcome(event, encode(t, payload)))
	}
	golden(t, "testdata/byhand.golden", table.Bytes())
}

// make returns the changed example. If an event's action has none, it uses one of another action,
// since they have the same shape.
func (m made) make(t *testing.T, known []example) map[string]any {
	t.Helper()
	event, action, _ := strings.Cut(m.from, ".")
	var chosen map[string]any
	for _, e := range known {
		same := action == "" || e.payload["action"] == action
		if e.event == event && (same || chosen == nil) {
			chosen = decodeExact(t, encode(t, e.payload)).(map[string]any) // a copy
		}
	}
	if chosen == nil {
		t.Fatalf("%s: there is no example of %s", m.name, event)
	}
	if action != "" {
		chosen["action"] = action
	}
	complete(chosen)
	for _, path := range slices.Sorted(maps.Keys(m.set)) {
		at, key := descend(t, chosen, path)
		at[key] = decodeExact(t, encode(t, m.set[path]))
	}
	for _, path := range m.drop {
		at, key := descend(t, chosen, path)
		delete(at, key)
	}
	return chosen
}

func descend(t *testing.T, at map[string]any, path string) (map[string]any, string) {
	t.Helper()
	keys := strings.Split(path, ".")
	for _, key := range keys[:len(keys)-1] {
		next, ok := at[key].(map[string]any)
		if !ok {
			t.Fatalf("%s: there is no object %s", path, key)
		}
		at = next
	}
	return at, keys[len(keys)-1]
}

// complete adds fields that GitHub has added since the examples were written.
func complete(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			complete(item)
		}
	case map[string]any:
		if _, is := v["has_wiki"]; is && v["has_discussions"] == nil { // a repository
			v["has_discussions"] = false
		}
		if _, is := v["merge_commit_sha"]; is && v["auto_merge"] == nil { // a pull request
			v["auto_merge"] = nil
		}
		if _, is := v["repository_selection"]; is && v["app_slug"] == nil { // an installation
			v["app_slug"], v["created_at"], v["updated_at"] = "a", "2019-05-15T15:19:51Z", "2019-05-15T15:19:51Z"
		}
		for _, item := range v {
			complete(item)
		}
	}
}

// golden compares with a file, or writes it.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
