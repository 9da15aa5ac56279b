package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/preadmit/preadmit/e2e/live"
	"github.com/preadmit/preadmit/e2e/updates"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/admission/apply"
)

// kubectlCommands has the kubectl commands of each applier that create and update.
var kubectlCommands = map[apply.Applier][2][]string{
	apply.ArgoCD: {
		{"apply", "--validate=warn", "--field-manager=argocd-controller"},
		{"apply", "--validate=warn", "--field-manager=argocd-controller"},
	},
	apply.Kubectl: {{"apply"}, {"apply"}},
	apply.Replace: {{"create", "--field-manager=kubectl-replace"}, {"replace"}},
}

// sendWithKubectl applies all base manifests with kubectl, and then, as a dry run, the head manifests of
// the objects that the server accepted.
func (r *updateRun) sendWithKubectl(ctx context.Context, all []updates.Update) error {
	commands, ok := kubectlCommands[r.by]
	if !ok || r.kubectl == "" {
		fmt.Fprintf(r.progress, "%s: not asked, there is no kubectl\n", r.by)
		return nil
	}
	for _, u := range all {
		if err := r.write("created/"+fileOf(u.Base), admission.NewObject(u.Base)); err != nil {
			return err
		}
	}
	created, err := r.runKubectl(ctx, "created", commands[0]...)
	if err != nil {
		return err
	}
	places := make([]live.Place, len(all))
	for i, u := range all {
		if places[i], err = r.server.Place(ctx, admission.NewObject(u.Base)); err != nil {
			return err
		}
		if err := r.record("CREATE", "created", u.Base, created.of(u.Base, places[i])); err != nil {
			return err
		}
	}
	if err := r.sendUpdates(ctx, all, places, created, commands[1]); err != nil {
		return err
	}
	for i, u := range all {
		if a := created.of(u.Base, places[i]).Answer; a == nil || !a.OK() {
			continue
		}
		call := live.Call{Method: http.MethodDelete, Path: places[i].Path, Query: url.Values{"gracePeriodSeconds": {"0"}}}
		deleted, err := r.server.Do(ctx, call)
		if err = errors.Join(err, deleted.Err()); err != nil {
			return err
		}
	}
	return nil
}

// sendUpdates sends the updates of the created objects, as a dry run.
func (r *updateRun) sendUpdates(ctx context.Context, all []updates.Update, places []live.Place, created *sent, command []string) error {
	before := map[string]map[string]any{}
	for i, u := range all {
		if a := created.of(u.Base, places[i]).Answer; a == nil || !a.OK() {
			continue
		}
		var err error
		if before[places[i].Path], err = r.between(ctx, places[i], u); err != nil {
			return err
		}
		if err := r.write("head/"+fileOf(u.Head), admission.NewObject(u.Head)); err != nil {
			return err
		}
	}
	if len(before) == 0 {
		return nil
	}
	updated, err := r.runKubectl(ctx, "head", append(command, "--dry-run=server")...)
	if err != nil {
		return err
	}
	for i, u := range all {
		if old := before[places[i].Path]; old != nil {
			a := updated.of(u.Head, places[i])
			a.old = old
			if err := r.record("UPDATE", "base", u.Base, a); err != nil {
				return err
			}
		}
	}
	return nil
}

// sent has the answers to the requests that kubectl sent for a directory, and its output.
type sent struct {
	mu      sync.Mutex
	answers map[string]*live.Answer // by the path of the object
	stdout  string
}

// of returns the answer to a manifest.
func (s *sent) of(manifest map[string]any, place live.Place) answered {
	o := admission.NewObject(manifest)
	a := s.answers[place.Path]
	return answered{Answer: a, manifest: manifest, unchanged: a == nil && strings.Contains(s.stdout, "/"+o.Name()+" unchanged")}
}

// runKubectl runs kubectl on a directory of the run.
func (r *updateRun) runKubectl(ctx context.Context, dir string, command ...string) (*sent, error) {
	s := &sent{answers: map[string]*live.Answer{}}
	proxy, err := r.server.Proxy(func(call *http.Request, body []byte, a *live.Answer) {
		path := call.URL.Path
		if call.Method == http.MethodPost {
			var o struct{ Metadata struct{ Name string } }
			if json.Unmarshal(body, &o) != nil {
				return
			}
			path += "/" + o.Metadata.Name
		}
		s.mu.Lock()
		s.answers[path] = a
		s.mu.Unlock()
	})
	if err != nil {
		return nil, err
	}
	server := httptest.NewServer(proxy)
	defer server.Close()
	var stdout, stderr bytes.Buffer
	run := func(file string) error {
		cmd := exec.CommandContext(ctx, r.kubectl, slices.Concat(command, []string{"--server", server.URL, "--cache-dir", filepath.Join(r.dir, "cache"), "-f", file})...)
		cmd.Env = []string{"HOME=" + r.dir, "KUBECONFIG=" + filepath.Join(r.dir, "none")}
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		var exit *exec.ExitError
		if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
			return fmt.Errorf("run kubectl: %w", err)
		}
		return nil
	}
	if err := run(filepath.Join(r.dir, dir)); err != nil {
		return nil, err
	}
	panicked := strings.Contains(stderr.String(), "panic: ")
	if panicked { // send the remaining files one by one
		files, err := filepath.Glob(filepath.Join(r.dir, dir, "*.yaml"))
		if err != nil {
			return nil, err
		}
		for _, file := range files[firstUnreported(files, stdout.String()):] {
			if err := run(file); err != nil {
				return nil, err
			}
		}
	}
	if s.stdout = stdout.String(); len(s.answers) == 0 && !panicked {
		return nil, fmt.Errorf("kubectl sent nothing: %s", stderr.String())
	}
	return s, nil
}

// firstUnreported returns the index of the file after the last one that is in kubectl's output. kubectl processes
// the files in order.
func firstUnreported(files []string, said string) int {
	for i := len(files) - 1; i >= 0; i-- {
		if _, name, _ := strings.Cut(strings.TrimSuffix(filepath.Base(files[i]), ".yaml"), "-"); strings.Contains(said, "/"+name+" ") {
			return i + 1
		}
	}
	return 0
}
