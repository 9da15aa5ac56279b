package live

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/testall"
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

// TestSnapshot takes a snapshot of a real server: it has all requested kinds, an object of each
// page, and nothing else.
func TestSnapshot(t *testing.T) {
	testall.Long(t)
	bin, err := filepath.Abs("../../bin/e2e")
	if err != nil {
		t.Fatal(err)
	}
	preadmit := filepath.Join(bin, "preadmit")
	if _, err := os.Stat(preadmit); err != nil {
		t.Skip("there is no preadmit: make conformance-live builds it")
	}
	binaries, err := FindBinaries(filepath.Join(bin, "kube-apiserver"))
	if err != nil {
		t.Skip("there is no API server: ", err)
	}
	c := &Cluster{binaries: binaries, dir: t.TempDir()}
	t.Cleanup(c.Stop)
	if err := errors.Join(c.writeFiles(), c.startEtcd(t.Context())); err != nil {
		t.Fatal(err)
	}
	if c.Setup, err = c.startServer(t.Context(), "--disable-admission-plugins=ServiceAccount"); err != nil {
		t.Fatal(err)
	}
	object := func(path, apiVersion, kind, name string, more map[string]any) {
		t.Helper()
		body := map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name}}
		maps.Copy(body, more)
		answer, err := c.Setup.Do(t.Context(), Call{Method: "POST", Path: path, Body: body})
		if err == nil {
			err = answer.Err()
		}
		if err != nil {
			t.Fatalf("%s %s: %v", kind, name, err)
		}
	}
	const admission = "admissionregistration.k8s.io/v1"
	object("/api/v1/namespaces", "v1", "Namespace", "shop", map[string]any{"metadata": map[string]any{"name": "shop", "labels": map[string]any{"tier": "gold"}}})
	object("/api/v1/namespaces/shop/secrets", "v1", "Secret", "limits", map[string]any{"stringData": map[string]any{"password": "sesame"}})
	object("/apis/"+admission+"/validatingadmissionpolicies", admission, "ValidatingAdmissionPolicy", "limits", map[string]any{"spec": map[string]any{
		"paramKind":        map[string]any{"apiVersion": "v1", "kind": "Secret"},
		"matchConstraints": map[string]any{"resourceRules": []any{map[string]any{"apiGroups": []any{""}, "apiVersions": []any{"v1"}, "operations": []any{"CREATE"}, "resources": []any{"configmaps"}}}},
		"validations":      []any{map[string]any{"expression": "true"}},
	}})
	kubeconfig := c.path("kubeconfig")
	text := "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n" +
		"clusters: [{name: a, cluster: {server: '" + c.Setup.url + "', certificate-authority: '" + filepath.Join(c.Setup.certificates, "apiserver.crt") + "'}}]\n" +
		"users: [{name: a, user: {token: " + adminToken + "}}]\n"
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	file := c.path("cluster.yaml")
	if out, err := exec.CommandContext(t.Context(), preadmit, "snapshot", "--kubeconfig", kubeconfig, "-o", file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"- ClusterRole.rbac.authorization.k8s.io\n", "- LimitRange\n", "- MutatingAdmissionPolicy.admissionregistration.k8s.io\n", "- PriorityClass.scheduling.k8s.io\n",
		"- Secret\n", "- RuntimeClass.node.k8s.io\n", "    tier: gold\n", "name: system-cluster-critical\n", "name: system:basic-user\n", "  password: \"\"\n", "name: limits\n",
	} {
		if !strings.Contains(string(data), want) {
			t.Errorf("there is no %q in the snapshot", want)
		}
	}
	for _, never := range []string{"c2VzYW1l", "kind: ConfigMap", "kind: Service\n"} {
		if strings.Contains(string(data), never) {
			t.Errorf("there is %q in the snapshot", never)
		}
	}
	if out, err := exec.CommandContext(t.Context(), preadmit, "context", "check", "--max-age", "1h", file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
