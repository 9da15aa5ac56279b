package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/internal/testall"
)

var update = flag.Bool("update", false, "write golden files and the outputs in documentation anew")

func TestMain(m *testing.M) {
	if os.Getenv(plainKrusty) != "" {
		roots, _ := io.ReadAll(os.Stdin) // on an error, render the roots read so far
		renderPlainly(string(roots))
		return
	}
	if os.Getenv(theProgram) != "" {
		main()
		return
	}
	testscript.Main(tests{m}, map[string]func(){"preadmit": main})
}

// tests runs the tests of this package; the program itself sets the growth of its heap.
type tests struct{ *testing.M }

func (t tests) Run() int {
	testall.Heap()
	return t.M.Run()
}

// TestScript runs testdata/script: every flag, every exit code, every kind of bad
// input. Besides testscript's commands, the scripts have:
//
//	exits CODE preadmit args...  runs Main in this process and expects this exit code
//	input FILE                   sets the standard input of the next exits
//	process CODE program args... runs a program as a process and expects this exit code
//	git-commit MESSAGE           commits everything in the current directory
//	big FILE MEGABYTES           writes a YAML file of that size
//	binary FILE                  writes bytes that are not text
func TestScript(t *testing.T) {
	data, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join(data, "script"),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Values[inputKey{}] = new(bytes.Buffer)
			env.Vars = append(env.Vars,
				"FIXTURE="+filepath.Join(data, "fixture"),
				"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
				"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z",
				"GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z",
			)
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits, "input": input, "process": process, "git-commit": gitCommit, "big": big, "binary": binary,
		},
	})
}

// inDirectory is locked while a script sets the working directory of the process, since
// scripts run in parallel.
var inDirectory sync.Mutex

// inputKey is the key of a script's value for the standard input of the next exits.
type inputKey struct{}

func input(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: input FILE")
	}
	ts.Value(inputKey{}).(*bytes.Buffer).WriteString(ts.ReadFile(args[0]))
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || args[1] != "preadmit" {
		ts.Fatalf("usage: exits CODE preadmit args...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	program, err := exec.LookPath("preadmit")
	ts.Check(err)
	inDirectory.Lock()
	defer inDirectory.Unlock()
	before, err := os.Getwd()
	ts.Check(err)
	ts.Check(os.Chdir(ts.MkAbs(".")))
	got := Main(context.Background(), args[2:], cli.Process{
		Stdin: ts.Value(inputKey{}).(*bytes.Buffer), Stdout: ts.Stdout(), Stderr: ts.Stderr(),
		Getenv: ts.Getenv, Executable: program,
	})
	ts.Check(os.Chdir(before))
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func process(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: process CODE program args...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got, exit := 0, new(exec.ExitError)
	switch err := ts.Exec(args[1], args[2:]...); {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	default:
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func gitCommit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: git-commit MESSAGE")
	}
	ts.Check(ts.Exec("git", "add", "--all"))
	ts.Check(ts.Exec("git", "commit", "--quiet", "--allow-empty", "--message", args[0]))
}

func big(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: big FILE MEGABYTES")
	}
	megabytes, err := strconv.Atoi(args[1])
	ts.Check(err)
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: big}\ndata:\n")
	line := strings.Repeat("x", 1000)
	for i := 0; b.Len() < megabytes<<20; i++ {
		b.WriteString("  k" + strconv.Itoa(i) + ": " + line + "\n")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o644))
}

func binary(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: binary FILE")
	}
	data := make([]byte, 4096)
	for i := range data {
		data[i] = byte(i * i)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o644))
}
