package intake

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/webhooks/queue"
)

// FuzzEvent checks that any payload gives a valid job, or a reason.
func FuzzEvent(f *testing.F) {
	events := strings.Fields("pull_request check_run check_suite merge_group push issue_comment installation installation_repositories")
	for _, seed := range []string{
		string(opened(7)), "null", "[]", `{"action":"opened","pull_request":{"number":1e400}}`,
		`{"action":"created","installation":{"id":1},"repository":{"id":2,"name":"r","owner":{"login":"o"}},"sender":{"login":"u","type":"User"},"issue":{"number":1,"pull_request":{}},"comment":{"id":3,"body":"/preadmit explain 4","user":{"login":"u","type":"User"}}}`,
		`{"action":"rerequested","installation":{"id":1},"repository":{"id":2,"name":"r","owner":{"login":"o"}},"check_run":{"head_sha":"` + oldHead + `","app":{"id":29310}},"check_suite":{"head_sha":"` + oldHead + `","app":{"id":29310},"pull_requests":[{"number":1,"head":{"sha":"` + oldHead + `"},"base":{"sha":"` + newHead + `","repo":{"id":2}}}]}}`,
		`{"action":"destroyed","installation":{"id":1},"repository":{"id":2,"name":"r","owner":{"login":"o"}},"merge_group":{"head_sha":"` + oldHead + `","base_sha":"` + newHead + `","head_ref":"refs/heads/q"}}`,
		`{"ref":"refs/heads/main","after":"` + oldHead + `","installation":{"id":1},"repository":{"id":2,"name":"r","owner":{"login":"o"},"default_branch":"main"}}`,
		`{"action":"removed","installation":{"id":1},"repositories_removed":[{"id":1},{"id":9007199254740993}]}`,
	} {
		for i := range events {
			f.Add(uint8(i), []byte(seed))
		}
	}
	line := regexp.MustCompile(`^[ -~]{1,200}$`)
	subject := regexp.MustCompile(`^[1-9][0-9]*\.[0-9]+\.[a-z]+(-[0-9a-z]+)?$`)
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		event := events[int(which)%len(events)]
		demand, err := readerOf(event, ourApp)(body)
		switch {
		case err != nil && json.Valid(body):
			t.Errorf("JSON is none: %v", err)
		case err == nil && !json.Valid(body):
			t.Errorf("what is no JSON gave %+v", demand)
		case err == nil && demand.job == nil && !line.MatchString(demand.why):
			t.Errorf("there is no job, because: %q", demand.why)
		case demand.job != nil:
			checkJob(t, event, demand.job)
			if !subject.MatchString(demand.job.Subject()) {
				t.Errorf("the job's subject is %q", demand.job.Subject())
			}
		}
	})
}

// checkJob checks what is true for every job.
func checkJob(t *testing.T, event string, j *queue.Job) {
	t.Helper()
	of := ofInstallation(j.Kind)
	for what, ok := range map[string]bool{
		"the installation": j.Installation > 0,
		"the repository":   of && j.Repository == 0 || j.Repository > 0 && isName(j.Owner) && isName(j.Repo),
		"the pull request": (j.Pull > 0) == (j.Kind == queue.KindPull || j.Kind == queue.KindCommand),
		"the head":         j.Head == "" && (of || j.Kind == queue.KindCommand) || isObjectName(j.Head),
		"the base":         j.Base == "" || isObjectName(j.Base),
		"the ref":          j.Ref == "" || isBranch(j.Ref),
		"the command":      (j.Command != "") == (j.Kind == queue.KindCommand) && parseCommand(j.Command) == j.Command,
		"the sender":       (j.Kind != queue.KindCommand) || isName(j.Sender) && j.Comment > 0,
		"the repositories": !slices.ContainsFunc(j.Repositories, func(id int64) bool { return id <= 0 }),
		"the reason":       strings.HasPrefix(j.Reason, event) && len(j.Reason) < 100,
		"freshness":        j.Fresh == strings.HasPrefix(event, "check_"),
	} {
		if !ok {
			t.Errorf("%s of the job is wrong: %+v", what, j)
		}
	}
}
