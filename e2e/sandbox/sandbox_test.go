package sandbox

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// allVariable is the environment variable that enables long tests, such as these.
const allVariable = "PREADMIT_TEST_ALL"

// TestScript runs testdata/script with the built programs, including kubectl. kubectl.txtar uses a server
// with the state of testdata/shop, on which operations.txtar then runs once for each kind; the others
// use their own servers. Besides testscript's commands, the scripts have:
//
//	retry [!] exec PROGRAM ARGS...  runs a program until it succeeds, or fails, for some seconds
//	[!] reached                     checks whether anything connected to the port $OUTSIDE on loopback
func TestScript(t *testing.T) {
	if os.Getenv(allVariable) != "1" {
		t.Skipf("takes long: `make test-all` runs it, or %s=1", allVariable)
	}
	bin := build(t)
	shop, err := filepath.Abs("testdata/shop")
	if err != nil {
		t.Fatal(err)
	}
	state := t.TempDir()
	if err := os.CopyFS(state, os.DirFS(shop)); err != nil { // out of this repository, whose policies count there
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	outside, reached := listen(t)
	kubeconfig := start(t, bin, state)
	p := testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			env.Setenv("KUBECONFIG", kubeconfig)
			env.Setenv("SHOP", state)
			env.Setenv("OUTSIDE", fmt.Sprint(outside))
			env.Setenv("TAKEN", fmt.Sprint(taken.Addr().(*net.TCPAddr).Port))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"retry": retry,
			"reached": func(ts *testscript.TestScript, neg bool, _ []string) {
				if n := reached.Load(); (n > 0) == neg {
					ts.Fatalf("%d connections to $OUTSIDE", n)
				}
			},
		},
	}
	t.Run("script", func(t *testing.T) { testscript.Run(t, p) })
	t.Run("operations", func(t *testing.T) { operations(t, p) })
}

// listen listens on a loopback port until the test ends, and counts connections.
func listen(t *testing.T) (port int, reached *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	reached = new(atomic.Int64)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			reached.Add(1)
			_ = c.Close()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port, reached
}

// build builds the programs into a directory.
func build(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	for _, program := range []struct{ dir, path string }{
		{"../..", "./cmd/preadmit"}, {"../..", "./cmd/preadmit-sandbox"}, {".", "k8s.io/kubernetes/cmd/kubectl"},
	} {
		cmd := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", bin+"/", program.path)
		cmd.Dir = program.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", program.path, err, out)
		}
	}
	return bin
}

// start runs a server with the state of a directory until the test ends, and returns its kubeconfig.
// At the end it is interrupted as by Ctrl-C, and must exit cleanly.
func start(t *testing.T, bin, dir string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(bin, "preadmit"), "sandbox", dir)
	cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stdout)
	line, err := lines.ReadString('\n')
	kubeconfig, ok := strings.CutPrefix(strings.TrimSpace(line), "export KUBECONFIG=")
	if !ok {
		_ = cmd.Process.Kill()
		t.Fatalf("the first line is %q, %v", line, err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ends with %v", err)
		}
		if _, err := os.Stat(filepath.Dir(kubeconfig)); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", filepath.Dir(kubeconfig), err)
		}
	})
	return kubeconfig
}

// patience is how long a script waits for delayed effects of a server.
const patience = 20 * time.Second

// retry runs a program until it succeeds or, after !, fails.
func retry(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) > 0 && args[0] == "!" {
		neg, args = true, args[1:]
	}
	if len(args) < 2 || args[0] != "exec" {
		ts.Fatalf("usage: retry [!] exec PROGRAM ARGS...")
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		err := ts.Exec(args[1], args[2:]...)
		said := ts.ReadFile("stdout")
		if neg && err != nil || !neg && err == nil && said != "" {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%q: %v\n%s%s", args, err, said, ts.ReadFile("stderr"))
		}
	}
}
