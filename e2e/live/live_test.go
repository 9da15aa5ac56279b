package live

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestAuditLog(t *testing.T) {
	l := newAuditLog()
	go func() {
		for _, part := range []string{
			"not an event\n", `{"kind":"Event","auditID":"a","stage":"Panic"}` + "\n" + `{"kind":"Event","auditID":"a","stage":"Resp`,
			`onseComplete","annotations":{"p/k":"v"}}` + "\n",
		} {
			if n, err := l.Write([]byte(part)); n != len(part) || err != nil {
				t.Errorf("wrote %d bytes: %v", n, err)
			}
			time.Sleep(time.Millisecond)
		}
	}()
	got, err := l.annotations(t.Context(), "a")
	if err != nil || got["p/k"] != "v" {
		t.Errorf("annotations are %v, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.annotations(ctx, "b"); err == nil {
		t.Error("no event, and no error")
	}
}

func TestTail(t *testing.T) {
	l := &tail{}
	for range 1000 {
		if _, err := l.Write([]byte("a line of the log\n")); err != nil {
			t.Fatal(err)
		}
	}
	if text := l.String(); len(text) > tailSize || !strings.HasPrefix(text, "a line") || !strings.HasSuffix(text, "log\n") {
		t.Errorf("kept %d bytes from %.20q", len(text), text)
	}
}

func TestProcess(t *testing.T) {
	p, err := start("sh", "/bin/sh", nil, "-c", "echo gone wrong >&2; exit 3")
	if err != nil {
		t.Fatal(err)
	}
	defer p.stop()
	err = p.await(t.Context(), func(context.Context) error { return context.Canceled })
	if err == nil || !strings.Contains(err.Error(), "gone wrong") || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("error is %v, want what the process said", err)
	}
}

func TestFindBinaries(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(AssetsVariable, dir)
	if _, err := FindBinaries(""); err == nil || !strings.Contains(err.Error(), "etcd") || !strings.Contains(err.Error(), "kube-apiserver") {
		t.Errorf("error is %v, want both that are missing", err)
	}
	for _, name := range []string{"etcd", "kube-apiserver"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b, err := FindBinaries("ignored")
	if err != nil || b.APIServer != filepath.Join(dir, "kube-apiserver") {
		t.Errorf("found %v, %v", b, err)
	}
	t.Setenv(AssetsVariable, "")
	t.Setenv("PATH", dir+"/none")
	if _, err := FindBinaries(""); err == nil || !strings.Contains(err.Error(), "etcd-server") {
		t.Errorf("error is %v, want what to install", err)
	}
}
