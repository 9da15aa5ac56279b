package jail

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const secret = "the-token-of-the-parent"

// try runs an attempt in a jail that may read dir.
func try(t *testing.T, c Command, name, argument string) (results string, end Ended) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return tryUntil(ctx, t, c, name, argument)
}

func tryUntil(ctx context.Context, t *testing.T, c Command, name, argument string) (results string, end Ended) {
	t.Helper()
	var err error
	if c.Program, err = os.Executable(); err != nil {
		t.Fatal(err)
	}
	if attempts()[name] == nil {
		t.Fatalf("no attempt %q", name)
	}
	c.Args, c.Input = []string{"probe", name}, []byte(argument+"\n")
	child, err := c.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(child.Results)
	if err != nil {
		t.Fatal(err)
	}
	return string(data), child.Wait()
}

// TestRefused runs the attempts of a program that was taken over.
func TestRefused(t *testing.T) {
	t.Setenv("GITHUB_TOKEN", secret)
	given, outside, inside := t.TempDir(), t.TempDir(), ""
	inside = filepath.Join(given, "deep", "file")
	secretFile := filepath.Join(outside, "secret")
	if err := errors.Join(os.Mkdir(filepath.Dir(inside), 0o700), os.WriteFile(inside, []byte("a"), 0o600),
		os.WriteFile(secretFile, []byte(secret), 0o644), os.Symlink(secretFile, filepath.Join(given, "link"))); err != nil {
		t.Fatal(err)
	}
	tcp, udp, stream, abstract := listeners(t, given)
	pid := fmt.Sprint(os.Getpid())
	const denied, notPermitted = "permission denied", "operation not permitted"
	for _, test := range []struct{ attempt, argument, want string }{
		{"read", inside, "done"},
		{"list", given, "done"},
		{"read", "/etc/passwd", denied},
		{"read", secretFile, denied},
		{"read", filepath.Join(given, "link"), denied},
		{"read", filepath.Join(given, "../../../../../../etc/passwd"), denied},
		{"read", "/proc/" + pid + "/environ", denied},
		{"read", "/proc/" + pid + "/mem", denied},
		{"read", "/proc/self/environ", denied},
		{"read", "/proc/1/cmdline", denied},
		{"list", "/", denied},
		{"list", outside, denied},
		{"write", filepath.Join(outside, "new"), denied},
		{"write", filepath.Join(given, "new"), denied},
		{"write", filepath.Join(os.TempDir(), "jail-"+rand.Text()), denied}, // a name that does not exist
		{"overwrite", inside, denied},
		{"overwrite", secretFile, denied},
		{"overwrite by name", inside, notPermitted},
		{"truncate", inside, notPermitted},
		{"truncate by open", inside, notPermitted},
		{"chmod", secretFile, notPermitted},
		{"set times", secretFile, notPermitted},
		{"rename", inside, notPermitted},
		{"remove", inside, notPermitted},
		{"discard", "", "done"},
		{"tcp", tcp, notPermitted},
		{"udp", udp, notPermitted},
		{"unix", stream, notPermitted},
		{"unix", abstract, notPermitted},
		{"listen", "", notPermitted},
		{"socket pair", "", notPermitted},
		{"netlink", "", notPermitted},
		{"run", "/bin/sh", denied},
		{"run itself", "", "done"},
		{"run from memory", "", notPermitted},
		{"ptrace", pid, notPermitted},
		{"read memory", pid, notPermitted},
		{"signal", pid, notPermitted},
		{"signal", "1", notPermitted},
		{"signal", "-1", notPermitted},
		{"signal a thread", pid, notPermitted},
		{"signal by file", pid, notPermitted},
		{"signal itself", "", "done"},
		{"own a file", pid, notPermitted},
		{"leave the session", "", notPermitted},
		{"leave the group", "", notPermitted},
		{"new namespace", "", notPermitted},
		{"clone namespace", "", notPermitted},
		{"mount", given, notPermitted},
		{"change root", given, notPermitted},
		{"io_uring", "", notPermitted},
		{"bpf", "", notPermitted},
		{"keyring", "", notPermitted},
		{"performance", "", notPermitted},
		{"shared memory", "", notPermitted},
		{"share memory", "", notPermitted},
		{"share a file", inside, notPermitted},
		{"lock a part", inside, notPermitted},
		{"unknown call", "", "function not implemented"},
		{"other convention", "", "function not implemented"},
		{"raise limits", "", "none could be raised"},
		{"capabilities", "", "has none"},
		{"environment", "", `["GOTRACEBACK=none" "PROCESS_IN_JAIL=1"]`},
		{"dump core", "", "is not dumpable"},
		{"new threads", tcp, notPermitted},
	} {
		t.Run(test.attempt+" "+filepath.Base(test.argument), func(t *testing.T) {
			c := Command{Read: []string{given}, Env: []string{"GOTRACEBACK=none"}, Limits: Limits{Memory: 1 << 30, CPU: time.Minute}}
			got, end := try(t, c, test.attempt, test.argument)
			if end.Code != 0 || !strings.Contains(got, test.want) || (test.want == "done") != (got == "done\n") {
				t.Errorf("got %q, want %q; %+v", got, test.want, end)
			}
			if strings.Contains(got+end.Output, secret) {
				t.Error("the secret can be read")
			}
		})
	}
}

// listeners listens in every possible way, and fails the test for a connection.
func listeners(t *testing.T, dir string) (tcp, udp, stream, abstract string) {
	t.Helper()
	abstract = fmt.Sprintf("@jail-test-%d", os.Getpid())
	stream = filepath.Join(dir, "s")
	var addresses []string
	for _, at := range []struct{ network, address string }{{"tcp", "127.0.0.1:0"}, {"unix", stream}, {"unix", abstract}} {
		l, err := net.Listen(at.network, at.address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		addresses = append(addresses, l.Addr().String())
		go func() {
			if _, err := l.Accept(); err == nil {
				t.Errorf("a connection came to %s", at.network)
			}
		}()
	}
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { packets.Close() })
	go func() {
		if _, _, err := packets.ReadFrom(make([]byte, 10)); err == nil {
			t.Error("a packet came")
		}
	}()
	return addresses[0], packets.LocalAddr().String(), stream, abstract
}

// TestInheritedFiles checks that files that the parent left open are closed.
func TestInheritedFiles(t *testing.T) {
	leaked, err := unix.Open("/etc/passwd", unix.O_RDONLY, 0) // without O_CLOEXEC
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(leaked)
	if leaked, err = unix.FcntlInt(uintptr(leaked), unix.F_DUPFD, 60); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(leaked)
	got, _ := try(t, Command{}, "open files", fmt.Sprint(leaked))
	if !strings.Contains(got, "bad file descriptor") {
		t.Errorf("got %q", got)
	}
}

// outOfMemory reports whether a program ended because of the limit of memory: its parent noticed it, or the kernel gave
// it no more.
func outOfMemory(e Ended) bool {
	return errors.Is(e.Cause, ErrMemory) || e.Code == 2 && strings.Contains(e.Output, "out of memory")
}

// TestEnded checks that a program ends whatever it does, with the right cause.
func TestEnded(t *testing.T) {
	limits := Limits{Memory: 256 << 20, CPU: 20 * time.Second}
	short := limits
	short.CPU = time.Second
	tight := limits
	tight.Memory = 32 << 20
	for _, test := range []struct {
		attempt string
		limits  Limits
		wall    time.Duration
		check   func(got string, e Ended) bool
		within  time.Duration
	}{
		{"take it in peace", limits, 10 * time.Second, func(got string, e Ended) bool { return got == "done\n" }, 9 * time.Second},
		{"take memory", limits, 10 * time.Second, func(_ string, e Ended) bool { return outOfMemory(e) }, 9 * time.Second},
		// Mapped memory mostly stays below the kernel's limit, so the parent notices it.
		{"take it in peace", tight, 10 * time.Second, func(got string, e Ended) bool {
			return got == "" && outOfMemory(e) || got == "done\n"
		}, 9 * time.Second},
		{"take page tables", limits, 10 * time.Second, func(got string, e Ended) bool {
			return got == "" && errors.Is(e.Cause, ErrMemory)
		}, 9 * time.Second},
		{"spin", short, 30 * time.Second, func(got string, e Ended) bool {
			// The limit counts ticks of the clock, CPU counts the exact time.
			return e.Cause == nil && e.Signal == "SIGKILL" && e.CPU > 500*time.Millisecond && e.CPU < 2*time.Second
		}, 20 * time.Second},
		{"spin", limits, time.Second, func(got string, e Ended) bool { return errors.Is(e.Cause, context.DeadlineExceeded) }, 5 * time.Second},
		{"ignore the end", limits, time.Second, func(got string, e Ended) bool { return errors.Is(e.Cause, context.DeadlineExceeded) }, 5 * time.Second},
		{"print", limits, 10 * time.Second, func(got string, e Ended) bool {
			return errors.Is(e.Cause, ErrOutput) && len(e.Output) < 3*keptOutput
		}, 9 * time.Second},
	} {
		t.Run(test.attempt, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), test.wall)
			defer cancel()
			start := time.Now()
			got, end := tryUntil(ctx, t, Command{Limits: test.limits}, test.attempt, "")
			if !test.check(got, end) {
				t.Errorf("got %q; %+v", got, end)
			}
			if took := time.Since(start); took > test.within {
				t.Errorf("took %v", took)
			}
		})
	}
}

// TestEnterOutside checks the error for a program that was not started in a jail.
func TestEnterOutside(t *testing.T) {
	if results, err := Enter(); err == nil || !strings.Contains(err.Error(), "another program has to start this one") {
		t.Errorf("%v, %v", results, err)
	}
}

// TestProcessesEndTogether checks that a program's processes end with it, and a program with its parent.
func TestProcessesEndTogether(t *testing.T) {
	start := time.Now()
	got, end := try(t, Command{}, "spin in children", "")
	if got != "done\n" || end.Code != 0 || end.Cause != nil {
		t.Errorf("got %q; %+v", got, end)
	}
	killParent(t)
	for running("probe") > 0 || running("spin") > 0 {
		if time.Since(start) > 10*time.Second {
			t.Fatalf("%d programs and %d of their children still run", running("probe"), running("spin"))
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// killParent kills the parent of a program in a jail.
func killParent(t *testing.T) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "parent")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
}

// running counts the processes of this test binary with a first argument.
func running(argument string) int {
	n := 0
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		data, _ := os.ReadFile(file)
		words := strings.Split(string(data), "\x00")
		if len(words) > 1 && filepath.Base(words[0]) == filepath.Base(os.Args[0]) && words[1] == argument {
			n++
		}
	}
	return n
}

// TestUnavailable checks the error for a program that cannot enter its jail, and for one that does
// not try.
func TestUnavailable(t *testing.T) {
	for _, c := range []Command{
		{Program: "/bin/true"},
		{Program: os.Args[0], Args: []string{"probe", "read"}, Read: []string{"/no/such/directory"}},
	} {
		_, err := c.Start(context.Background())
		unavailable := new(UnavailableError)
		if !errors.As(err, &unavailable) {
			t.Fatalf("%v: error %v", c, err)
		}
		if len(c.Read) > 0 && !strings.Contains(err.Error(), "/no/such/directory") {
			t.Errorf("error %v", err)
		}
	}
	c := Command{Program: "/no/such/program"}
	if _, err := c.Start(context.Background()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}
