package service

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/githubtest"
)

// manyFiles is the maximum number of files in a directory of manifests, all changed by one pull request.
const manyFiles = 10_000

// TestManyFiles: a pull request with 10,000 files is judged. If the limit for fetching is lower,
// its check run fails with the reason.
func TestManyFiles(t *testing.T) {
	w := newEnv(t)
	files := githubtest.Files{}
	for i := range manyFiles {
		files[fmt.Sprintf("app/%02d/%05d.yaml", i%100, i)] = configMap(fmt.Sprintf("m-%05d", i), []string{"fine", "deny"}[i/(manyFiles-1)])
	}
	r := w.start(t.TempDir(), options{"RECONCILE_EVERY": "0s"})
	began := time.Now()
	head, err := w.shop.Push("many", files)
	w.must(err)
	number, err := w.shop.OpenPull(githubtest.PullOptions{Head: "many"})
	w.must(err)
	pushed := time.Since(began)
	w.judged(head, "failure", denied)
	t.Logf("%d files: judged %s after the push, which took %s; most memory of the service %d MiB",
		manyFiles, (time.Since(began) - pushed).Round(time.Millisecond), pushed.Round(time.Millisecond), r.memory("VmHWM")>>20)
	w.told(w.shop, number, "the key deny is not for us")
	if code := r.stop(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
	for what, limit := range map[string]struct {
		o    options
		want string
	}{
		"objects": {options{"FETCH_OBJECTS": "5000"}, "more than 5000 commits, directories and files"},
		"bytes":   {options{"FETCH_SIZE": "64Ki"}, "more than 65536 bytes"},
	} {
		limit.o["RECONCILE_EVERY"] = "0s"
		r := w.start(t.TempDir(), limit.o)
		branch := "many-" + what
		head, err := w.shop.Push(branch, files)
		w.must(err)
		began := time.Now()
		w.must(second(w.shop.OpenPull(githubtest.PullOptions{Head: branch})))
		w.judged(head, "failure", unscanned)
		t.Logf("%s: refused after %s", what, time.Since(began).Round(time.Millisecond))
		summary := ""
		for _, c := range w.hub.CheckRuns() {
			if c.HeadSHA == head {
				summary = c.Summary
			}
		}
		if !strings.Contains(summary, limit.want) {
			t.Errorf("%s: the check run says %q, want %q", what, summary, limit.want)
		}
		if dead := r.metric(`preadmit_queue_jobs{state="dead"}`); len(dead) != 1 || dead[0] != "0" {
			t.Errorf("%s: dead letters %q: the repository is at fault", what, dead)
		}
		r.stop()
	}
}
