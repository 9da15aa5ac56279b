package playground

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/jail"
	"github.com/preadmit/preadmit/report"
)

// inProcess is in the environment of a process that judges for a test.
const inProcess = "judge-for-a-test"

// TestMain makes the test binary also the program that judges: in a jail, or without one with plain.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Args[1] != inProcess {
		os.Exit(m.Run())
	}
	out := os.Stdout
	if !slices.Contains(os.Args, "plain") {
		var err error
		if out, err = jail.Enter(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 2<<20)
	for lines.Scan() {
		switch text := lines.Text(); {
		case strings.Contains(text, "hang"):
			time.Sleep(time.Hour)
		case strings.Contains(text, "crash"):
			os.Exit(2)
		case strings.Contains(text, "memory"):
			var all [][]byte
			for {
				all = append(all, make([]byte, 16<<20))
				for i := range all[len(all)-1] {
					all[len(all)-1][i] = 1
				}
			}
		case strings.Contains(text, "dies"):
			fmt.Fprintln(out, `{"problems": [{"message": "dies"}]}`)
			os.Exit(2)
		case strings.Contains(text, "twice"):
			fmt.Fprintln(out, `{"problems": [{"message": "twice"}]}`)
			fmt.Fprintln(out, `{"problems": [{"message": "another's"}, {}]}`)
		case strings.Contains(text, "garbage"):
			fmt.Fprintln(out, "{")
		case strings.Contains(text, "flood"):
			for {
				fmt.Fprint(out, strings.Repeat("x", 1<<20))
			}
		default:
			fmt.Fprintf(out, `{"problems": [{"field": "object", "message": "%d %s"}]}`+"\n", len(text), os.Args[len(os.Args)-1])
		}
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func processes(t *testing.T) *Processes {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &Processes{Program: program, Args: []string{inProcess}, Plain: []string{inProcess, "plain"}, BestEffort: true, Memory: 256 << 20, Time: time.Second}
	t.Cleanup(p.Close)
	return p
}

// TestProcesses checks that one process serves one request after the other, and that after a request that
// hangs, crashes, floods or takes too much memory another process serves the next one.
func TestProcesses(t *testing.T) {
	p := processes(t)
	for _, text := range []string{"a", "hang", "b", "crash", "c", "garbage", "d", "flood", "e", "memory", "f", "g"} {
		answer, err := p.Answer(t.Context(), &report.PlaygroundRequest{Policies: text})
		switch bad := len(text) > 1; {
		case bad && !errors.Is(err, ErrEnded):
			t.Errorf("%s: %v, %v", text, answer, err)
		case !bad && (err != nil || len(answer.Problems) != 1):
			t.Errorf("%s: %v, %v", text, answer, err)
		}
	}
}

// TestIdle checks that a process that ended after its answer, or sent another one, does not serve the next request.
func TestIdle(t *testing.T) {
	p := processes(t)
	for _, text := range []string{"dies", "a", "twice", "b", "c"} {
		answer, err := p.Answer(t.Context(), &report.PlaygroundRequest{Policies: text})
		if err != nil || len(answer.Problems) != 1 {
			t.Errorf("%s: %+v, %v", text, answer, err)
		}
		time.Sleep(200 * time.Millisecond)
	}
	if p.busy != 0 || len(p.idle) != 1 {
		t.Errorf("%d processes judge and %d wait, want one that waits", p.busy, len(p.idle))
	}
}

// TestWithoutAJail checks that without support for a jail a plain process is used.
func TestWithoutAJail(t *testing.T) {
	p := processes(t)
	p.once.Do(p.init)
	for _, text := range []string{"a", "hang", "b"} {
		one, err := p.plain(nil)
		if err != nil {
			t.Fatal(err)
		}
		p.idle = append(p.idle, one)
		if _, err := p.Answer(t.Context(), &report.PlaygroundRequest{Policies: text}); (err != nil) != (len(text) > 1) {
			t.Errorf("%s: %v", text, err)
		}
		p.Close()
	}
}

// TestVersions checks that a process of the requested version judges, and that Count still holds.
func TestVersions(t *testing.T) {
	p := processes(t)
	p.Count = 2
	for _, test := range []struct{ version, want string }{
		{"", inProcess}, {"1.34", "--kubernetes-version=1.34"}, {"1.33", "--kubernetes-version=1.33"}, {"1.34", "--kubernetes-version=1.34"}, {"", inProcess},
	} {
		answer, err := p.Answer(t.Context(), &report.PlaygroundRequest{Version: test.version})
		if err != nil {
			t.Fatal(err)
		}
		if got := answer.Problems[0].Message; !strings.HasSuffix(got, " "+test.want) {
			t.Errorf("%q is judged by %s, want %s", test.version, got, test.want)
		}
		if len(p.idle) > p.Count || p.busy != 0 {
			t.Errorf("%d processes wait and %d judge, want at most %d", len(p.idle), p.busy, p.Count)
		}
	}
}

// TestManyAtOnce checks that requests wait for a process, up to a limit.
func TestManyAtOnce(t *testing.T) {
	p := processes(t)
	var wait sync.WaitGroup
	var mu sync.Mutex
	busy, fine := 0, 0
	for range 3 * maxWaiting {
		wait.Go(func() {
			_, err := p.Answer(context.Background(), &report.PlaygroundRequest{Policies: "a"})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case errors.Is(err, ErrBusy):
				busy++
			case err == nil:
				fine++
			default:
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if fine == 0 || busy+fine != 3*maxWaiting {
		t.Errorf("%d are answered, %d are not", fine, busy)
	}
}
