package webhooks

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/preadmit/preadmit/internal/freeport"
	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/webhooks/app"
)

// text is a log that can be read while it is written.
type text struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (t *text) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.Write(p)
}

func (t *text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}

// running is a service with an App, in its own goroutine.
type running struct {
	*Service
	t     *testing.T
	log   *text
	stop  context.CancelFunc
	ended chan struct{} // closed when err is why
	err   error
}

// run starts a service for an App that GitHub knows, with additional environment variables.
func run(t *testing.T, env environment) *running {
	t.Helper()
	return runWith(t, env, jailable(Options{}))
}

// runWith is run with other options.
func runWith(t *testing.T, env environment, o Options) *running {
	t.Helper()
	hub, err := githubtest.New(githubtest.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hub.Close)
	made, err := hub.AddApp(githubtest.AppOptions{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	key := filepath.Join(dir, "key.pem")
	if err := os.WriteFile(key, made.PrivateKey, 0o600); err != nil {
		t.Fatal(err)
	}
	all := environment{
		"PREADMIT_LISTEN": "127.0.0.1:0", "PREADMIT_METRICS_LISTEN": "127.0.0.1:0", "PREADMIT_DATA_DIR": filepath.Join(dir, "data"),
		"PREADMIT_PUBLIC_URL": "https://preadmit.example", "PREADMIT_APP_ID": fmt.Sprint(made.ID), "PREADMIT_APP_PRIVATE_KEY_FILE": key,
		"PREADMIT_APP_WEBHOOK_SECRET": "hunter2", "PREADMIT_APP_CLIENT_ID": "x", "PREADMIT_APP_CLIENT_SECRET": "y",
		"PREADMIT_GITHUB_URL": hub.WebURL, "PREADMIT_GITHUB_API_URL": hub.URL, "PREADMIT_RECONCILE_EVERY": "0s",
	}
	maps.Copy(all, env)
	config, err := Load(Sources{Getenv: all.get})
	if err != nil {
		t.Fatal(err)
	}
	r := &running{t: t, log: &text{}, ended: make(chan struct{})}
	o.Config, o.Log = config, slog.New(slog.NewTextHandler(r.log, nil))
	if r.Service, err = New(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	r.stop = stop
	go func() { defer close(r.ended); r.err = r.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		<-r.ended
		if t.Failed() {
			t.Logf("log:\n%s", r.log)
		}
	})
	return r
}

// end waits until the service ends, and returns its error.
func (r *running) end() error {
	r.t.Helper()
	select {
	case <-r.ended:
		return r.err
	case <-time.After(20 * time.Second):
		r.t.Fatal("the service does not end")
		return nil
	}
}

// answers waits until the response for a path has a status.
func (r *running) answers(path string, want int) (body string) {
	r.t.Helper()
	got := 0
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var resp *http.Response
		if resp, body = get(r.t, http.DefaultClient, r.URL()+path); resp.StatusCode == want {
			return body
		}
		got = resp.StatusCode
	}
	r.t.Fatalf("%s: %d %s, want %d", path, got, body, want)
	return ""
}

// logs waits until the log contains a text.
func (r *running) logs(want string) {
	r.t.Helper()
	for end := time.Now().Add(20 * time.Second); !strings.Contains(r.log.String(), want); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("the log does not say %q", want)
		}
	}
}

// pings returns the status of the response to a signed ping.
func (r *running) pings() int {
	r.t.Helper()
	mac := hmac.New(sha256.New, []byte("hunter2"))
	mac.Write([]byte("{}"))
	req, err := http.NewRequest(http.MethodPost, r.URL()+app.WebhookPath, strings.NewReader("{}"))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header = http.Header{
		"Content-Type": {"application/json"}, "X-Github-Event": {"ping"}, "X-Github-Delivery": {"11111111-1111-4111-8111-111111111111"},
		"X-Hub-Signature-256": {"sha256=" + hex.EncodeToString(mac.Sum(nil))},
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

// startNATS starts a server.
func startNATS(t *testing.T, o server.Options) {
	t.Helper()
	o.Host, o.NoLog, o.NoSigs, o.JetStream, o.StoreDir = "127.0.0.1", true, true, true, t.TempDir()
	s, err := server.NewServer(&o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("NATS does not start")
	}
}

// TestWaitsForNATS checks that until NATS is started, the process is alive, accepts nothing, and logs
// why.
func TestWaitsForNATS(t *testing.T) {
	at := freeport.Port(t)
	r := run(t, environment{"PREADMIT_NATS_URL": fmt.Sprintf("nats://127.0.0.1:%d", at)})
	r.answers("/healthz", 200)
	if body := r.answers("/readyz", 503); !strings.Contains(body, "the service is starting") {
		t.Errorf("/readyz: %s", body)
	}
	if status := r.pings(); status != 503 {
		t.Errorf("a delivery is answered %d", status)
	}
	if _, page := get(t, http.DefaultClient, "http://"+r.ops.Addr().String()+"/readyz"); !strings.Contains(page, "starting") {
		t.Errorf("at the address of metrics /readyz says %s", page)
	}
	r.logs("waiting for NATS")
	startNATS(t, server.Options{Port: at})
	r.answers("/readyz", 200)
	if status := r.pings(); status != 200 {
		t.Errorf("with NATS a delivery is answered %d", status)
	}
	r.logs("nats.url: connecting to NATS")
	r.stop()
	if err := r.end(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// TestEndsWhileItWaits checks that a waiting service ends at once when asked to.
func TestEndsWhileItWaits(t *testing.T) {
	r := run(t, environment{"PREADMIT_NATS_URL": fmt.Sprintf("nats://127.0.0.1:%d", freeport.Port(t))})
	r.answers("/readyz", 503)
	began := time.Now()
	r.stop()
	if err, took := r.end(), time.Since(began); err != nil || took > 2*time.Second {
		t.Errorf("it ended with %v after %v", err, took)
	}
}

// TestNATSRefuses checks that a permanent error is one of the configuration.
func TestNATSRefuses(t *testing.T) {
	at := freeport.Port(t)
	startNATS(t, server.Options{Port: at, Username: "u", Password: "p"})
	r := run(t, environment{"PREADMIT_NATS_URL": fmt.Sprintf("nats://127.0.0.1:%d", at)})
	if err := r.end(); !Misconfigured(err) || !strings.Contains(err.Error(), "nats.url: connecting to NATS: nats: Authorization Violation; check the URLs, nats.credentialsFile") {
		t.Errorf("it ended with %v", err)
	}
}

// TestGitHubIsAway checks that deliveries are accepted while GitHub does not answer.
func TestGitHubIsAway(t *testing.T) {
	r := run(t, environment{"PREADMIT_GITHUB_API_URL": fmt.Sprintf("http://127.0.0.1:%d/", freeport.Port(t))})
	r.answers("/readyz", 200)
	if status := r.pings(); status != 200 {
		t.Errorf("a delivery is answered %d", status)
	}
	select {
	case <-r.ended:
		t.Errorf("it ended with %v", r.err)
	case <-time.After(500 * time.Millisecond):
	}
	r.stop()
	if err := r.end(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// TestGitHubRefuses checks that credentials that GitHub rejects are an error of the configuration,
// which names the keys and what to do.
func TestGitHubRefuses(t *testing.T) {
	r := run(t, environment{"PREADMIT_APP_ID": "424242"})
	err := r.end()
	if !Misconfigured(err) {
		t.Fatalf("it ended with %v", err)
	}
	for _, want := range []string{"app.id and app.privateKeyFile must be the ID and a private key of one App at ", "make a new key on its settings page"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q: %v", want, err)
		}
	}
}

// TestAddressInUse checks that the error names the key.
func TestAddressInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for key, env := range map[string]environment{
		"listen":        {"PREADMIT_LISTEN": l.Addr().String()},
		"metricsListen": {"PREADMIT_METRICS_LISTEN": l.Addr().String(), "PREADMIT_LISTEN": "127.0.0.1:0"},
	} {
		env["PREADMIT_DATA_DIR"] = t.TempDir()
		config, err := ReadConfig(Sources{Dev: true, Getenv: env.get})
		if err != nil {
			t.Fatal(err)
		}
		_, err = New(t.Context(), Options{Config: config, Dev: true})
		if err == nil || !strings.HasPrefix(err.Error(), key+": ") || !strings.Contains(err.Error(), "address already in use; give an address") || Misconfigured(err) {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// TestOneServiceForEachDirectory checks that a second service with the same data ends with an error.
func TestOneServiceForEachDirectory(t *testing.T) {
	dir := t.TempDir()
	newDev(t, environment{"PREADMIT_DATA_DIR": dir})
	r := run(t, environment{"PREADMIT_DATA_DIR": dir})
	if err := r.end(); err == nil || Misconfigured(err) || !strings.HasPrefix(err.Error(), "dataDir: ") {
		t.Errorf("it ended with %v", err)
	}
}

// TestJailIsTriedAtStart checks that a service does not start on a system where no scan can be jailed,
// unless scan.jail permits that.
func TestJailIsTriedAtStart(t *testing.T) {
	broken := jailable(Options{})
	broken.Args = []string{"-test.run=^$"} // a program that does not enter its jail
	for setting, want := range map[string]string{"required": "scan.jail: required, but no scan can be jailed here: ", "best-effort": ""} {
		r := runWith(t, environment{"PREADMIT_SCAN_JAIL": setting}, broken)
		if want == "" {
			r.answers("/readyz", 200)
			if !strings.Contains(r.log.String(), "scans are not wholly jailed here") {
				t.Error("best-effort: nothing is said")
			}
			continue
		}
		if err := r.end(); err == nil || !strings.HasPrefix(err.Error(), want) || Misconfigured(err) {
			t.Errorf("%s: it ended with %v", setting, err)
		}
	}
}
