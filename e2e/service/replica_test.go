package service

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/freeport"
)

// replica is a running `preadmit serve`.
type replica struct {
	w   *env
	cmd *exec.Cmd
	// url is the address of webhooks and pages, ops that of metrics.
	url, ops string
	dir      string
	ended    chan struct{} // closed when the process has ended
	log      *lines
}

// lines has the log of a process.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.WriteString(line + "\n")
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// program returns a program that `make service-test` builds. PREADMIT_E2E_BIN names another
// directory for it.
func program(t *testing.T, name string) string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join(cmp.Or(os.Getenv("PREADMIT_E2E_BIN"), "../../bin/e2e"), name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Skipf("the program is not built; `make service-test` builds and tests it: %v", err)
	}
	return file
}

// canary is in every replica's environment, and nowhere else.
const canary = "canary-in-the-environment"

// viewerHeader is the header in which a proxy names the viewer, with behindProxy.
const viewerHeader = "X-Viewer"

// behindProxy returns the options with which a proxy on this machine names the viewer.
func behindProxy() options {
	return options{"PAGES_ACCESS": "proxy", "PAGES_HEADER": viewerHeader, "PAGES_TRUSTED_PROXIES": "127.0.0.0/8"}
}

// options are environment variables of a replica, without PREADMIT_, and flags, with --.
type options map[string]string

// start starts a replica with its data in dir, and waits until it is ready. It directs the
// App's webhooks to the replica.
func (w *env) start(dir string, o options) *replica {
	w.t.Helper()
	r := w.launch(dir, o)
	r.ready()
	return r
}

// launch is start without waiting.
func (w *env) launch(dir string, o options) *replica {
	w.t.Helper()
	r := w.launchUnhooked(dir, o)
	w.app.SetWebhook(r.url+"/webhooks/github", w.app.WebhookSecret())
	return r
}

// launchUnhooked is launch without directing the App's webhooks to the replica.
func (w *env) launchUnhooked(dir string, o options) *replica {
	w.t.Helper()
	r := &replica{w: w, dir: dir, ended: make(chan struct{}), log: &lines{}}
	listen, ops := freeport.Address(w.t), freeport.Address(w.t)
	r.url, r.ops = "http://"+listen, "http://"+ops
	env := options{
		"LISTEN": listen, "METRICS_LISTEN": ops, "DATA_DIR": dir, "PUBLIC_URL": r.url,
		"APP_ID": fmt.Sprint(w.app.ID), "APP_PRIVATE_KEY_FILE": w.key, "APP_WEBHOOK_SECRET_FILE": w.secret,
		"APP_CLIENT_ID": w.app.ClientID, "APP_CLIENT_SECRET_FILE": w.client,
		"GITHUB_URL": w.hub.WebURL, "GITHUB_API_URL": w.hub.URL,
		"SCAN_WORKERS": "1", "QUEUE_LEASE": "5s", "DRAIN": "20s", "LOG_LEVEL": "debug",
	}
	maps.Copy(env, o)
	r.cmd = exec.Command(cmp.Or(w.program, program(w.t, "preadmit")), "serve")
	if slices.Contains(w.environment, without+"=1") || slices.Contains(w.environment, restricted+"=1") {
		r.cmd = exec.Command("/proc/self/exe", r.cmd.Args...)
	}
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: w.credential}
	w.must(os.MkdirAll(filepath.Join(dir, "system-tmp"), 0o700)) // must stay empty
	if w.credential != nil {
		w.must(os.Chown(filepath.Join(dir, "system-tmp"), int(w.credential.Uid), int(w.credential.Gid)))
	}
	r.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + filepath.Join(dir, "system-tmp")}, w.environment...)
	for name, value := range env {
		if strings.HasPrefix(name, "--") {
			r.cmd.Args = append(r.cmd.Args, name, value)
			continue
		}
		r.cmd.Env = append(r.cmd.Env, "PREADMIT_"+name+"="+value)
	}
	stderr, err := r.cmd.StderrPipe()
	w.must(err)
	w.must(r.cmd.Start())
	go r.read(stderr)
	w.t.Cleanup(func() {
		if w.t.Failed() {
			r.abort()
			w.t.Logf("log of %s:\n%s", r.url, tail(r.log.String(), 120_000))
		}
		r.kill()
	})
	return r
}

func tail(text string, n int) string { return text[max(0, len(text)-n):] }

func (r *replica) read(stderr io.Reader) {
	scanner := bufio.NewScanner(stderr)
	scanner.Buffer(nil, 4<<20)
	for scanner.Scan() {
		r.log.add(scanner.Text())
	}
	if err := scanner.Err(); err != nil { // a line that is too long
		r.log.add("the log was read no further: " + err.Error())
		_, _ = io.Copy(io.Discard, stderr)
	}
	_ = r.cmd.Wait() // r.cmd.ProcessState has the result
	close(r.ended)
}

// ready waits until the replica accepts deliveries.
func (r *replica) ready() {
	r.w.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		select {
		case <-r.ended:
			r.w.t.Fatalf("the service ended: %s\n%s", r.cmd.ProcessState, r.log)
		default:
		}
		if status, _ := r.get("/readyz"); status == http.StatusOK {
			return
		}
	}
	r.w.t.Fatal("the service does not become ready")
}

// get returns the status of a response, 0 if there is none, and its body.
func (r *replica) get(path string) (int, string) { return r.getAs("", path) }

// getAs is get as by a proxy for a viewer.
func (r *replica) getAs(viewer, path string) (int, string) {
	base := r.url
	if path == "/metrics" {
		base = r.ops
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+path, nil)
	if err != nil {
		return 0, err.Error()
	}
	if viewer != "" {
		req.Header.Set(viewerHeader, viewer)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body) // as much as could be read
	return resp.StatusCode, string(body)
}

// kill ends the process at once, like a power failure.
func (r *replica) kill() {
	_ = r.cmd.Process.Kill() // it may have ended
	<-r.ended
}

// abort ends the process with the stacks of its goroutines in its log, if it still runs.
func (r *replica) abort() {
	_ = r.cmd.Process.Signal(syscall.SIGQUIT)
	select {
	case <-r.ended:
	case <-time.After(10 * time.Second):
	}
}

// stop sends the process a signal to end, and returns its exit code.
func (r *replica) stop() int {
	r.w.t.Helper()
	r.w.must(r.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case <-r.ended:
	case <-time.After(patience):
		r.w.t.Fatal("the service does not end")
	}
	return r.cmd.ProcessState.ExitCode()
}
