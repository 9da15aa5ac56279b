package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
)

// TestDocumentation runs every command in the ```console blocks of the documentation, in
// the top directory of the repository, and compares its output with the block. With
// -update it writes the outputs.
func TestDocumentation(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	commands := 0
	for _, pattern := range []string{"*.md", "docs/*.md", "examples/*/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			t.Run(file, func(t *testing.T) { commands += checkDocument(t, file) })
		}
	}
	if commands == 0 {
		t.Error("the documentation runs no command")
	}
}

// checkDocument runs a document's blocks and counts the commands.
func checkDocument(t *testing.T, file string) int {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	fresh := consoleBlocks().ReplaceAllStringFunc(string(data), func(block string) string {
		body := strings.TrimSuffix(strings.TrimPrefix(block, "```console\n"), "```")
		out := "```console\n"
		for _, line := range strings.Split(body, "\n") {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				commands++
				out += line + "\n" + runConsole(t, command)
			}
		}
		return out + "```"
	})
	if *update {
		if err := os.WriteFile(file, []byte(fresh), 0o644); err != nil {
			t.Fatal(err)
		}
		return commands
	}
	if diff := cmp.Diff(strings.Split(string(data), "\n"), strings.Split(fresh, "\n")); diff != "" {
		t.Errorf("%s is out of date, run the test with -update (-file +program):\n%s", file, diff)
	}
	return commands
}

func consoleBlocks() *regexp.Regexp { return regexp.MustCompile("(?ms)^```console\n.*?^```$") }

// runConsole runs a command line in process and returns what it prints, streams
// mixed as on a terminal. `echo $?` after a command line shows its exit code.
func runConsole(t *testing.T, line string) string {
	line, echo := strings.CutSuffix(line, "; echo $?")
	args := strings.Fields(line)
	switch {
	case strings.HasPrefix(line, "preadmit "):
		args = args[1:]
	case strings.HasPrefix(line, "go run ./cmd/preadmit "):
		args = args[3:]
	default:
		t.Fatalf("console blocks are for preadmit only, not for %q", line)
	}
	program, err := exec.LookPath("preadmit") // child processes imitate other versions of Kubernetes
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	code := Main(t.Context(), args, cli.Process{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }, Executable: program,
	})
	if echo {
		fmt.Fprintln(&out, code)
	}
	return duration().ReplaceAllString(out.String(), ", 0.2s")
}

// duration matches the duration at the end of a summary, which differs from run to run.
func duration() *regexp.Regexp { return regexp.MustCompile(`(?m),\s+[0-9.]+m?s$`) }
