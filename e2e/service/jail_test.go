package service

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// These environment variables make the test binary execute its arguments: without, as on a kernel
// that has no Landlock; restricted, without the possibility to gain privileges.
const (
	without    = "PREADMIT_TEST_WITHOUT_LANDLOCK"
	restricted = "PREADMIT_TEST_RESTRICTED"
)

func TestMain(m *testing.M) {
	if os.Getenv(without) == "" && os.Getenv(restricted) == "" {
		os.Exit(m.Run())
	}
	err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	if err == nil && os.Getenv(without) != "" {
		err = hideLandlock()
	}
	if err == nil {
		err = syscall.Exec(os.Args[1], os.Args[1:], slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PREADMIT_TEST_") }))
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// hideLandlock makes the kernel respond to this process, and to programs it executes, like a
// kernel without Landlock.
func hideLandlock() error {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the number of the call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_LANDLOCK_CREATE_RULESET, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return errno
	}
	return nil
}

// TestNoJail: on a kernel without Landlock the service does not start and reports what is missing;
// with scan.jail: best-effort it warns and judges.
func TestNoJail(t *testing.T) {
	w := newEnv(t)
	w.environment = append(w.environment, without+"=1")
	r := w.launch(t.TempDir(), options{})
	r.ends()
	if code := r.cmd.ProcessState.ExitCode(); code != 3 {
		t.Errorf("it ended with %d, want 3", code)
	}
	if log := r.log.String(); !strings.Contains(log, "scan.jail: required, but no scan can be jailed here: build the jail: this kernel has no Landlock: use Linux 5.13 or later") {
		t.Errorf("it does not say what is lacking:\n%s", log)
	}
	r = w.start(t.TempDir(), options{"SCAN_JAIL": "best-effort", "RECONCILE_EVERY": "0s"})
	number := w.pull(w.shop, "change", "deny")
	w.judged(w.shop.Pull(number).HeadSHA, "failure", denied)
	if log := r.log.String(); !strings.Contains(log, "scans are not wholly jailed here") {
		t.Error("best-effort: it does not say so at the start")
	}
}

// nobody is the user of deploy's Pods.
const nobody = 65532

// TestRestricted: the jail works under the Pod Security Standard "restricted": as a user that is
// not root, has no capabilities and cannot gain any.
func TestRestricted(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("becoming another user takes root")
	}
	w, dir := newEnv(t), t.TempDir()
	for _, file := range []string{dir, w.key, w.secret, w.client} {
		w.must(os.Chown(file, nobody, nobody))
	}
	w.must(os.Chmod(filepath.Dir(w.key), 0o755))
	w.must(os.Chmod(filepath.Dir(dir), 0o755))
	w.program = filepath.Join(filepath.Dir(w.key), "preadmit") // where nobody may execute it
	text, err := os.ReadFile(program(t, "preadmit"))
	w.must(err)
	w.must(os.WriteFile(w.program, text, 0o755))
	w.credential = &syscall.Credential{Uid: nobody, Gid: nobody, Groups: []uint32{}}
	w.environment = append(w.environment, restricted+"=1")
	r := w.start(dir, options{"RECONCILE_EVERY": "0s"})
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.cmd.Process.Pid))
	w.must(err)
	for _, want := range []string{"NoNewPrivs:\t1\n", "CapEff:\t0000000000000000\n", "CapPrm:\t0000000000000000\n", fmt.Sprintf("Uid:\t%d\t", nobody)} {
		if !strings.Contains(string(status), want) {
			t.Errorf("the status of the process lacks %q:\n%s", want, status)
		}
	}
	number := w.pull(w.shop, "change", "deny")
	w.judged(w.shop.Pull(number).HeadSHA, "failure", denied)
	if strings.Contains(r.log.String(), "scans are not wholly jailed") {
		t.Error("the jail lacks something")
	}
}
