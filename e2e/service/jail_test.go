package service

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// without, in the environment, has the test binary execute its arguments on a kernel that has
// no Landlock.
const without = "PREADMIT_TEST_WITHOUT_LANDLOCK"

func TestMain(m *testing.M) {
	if os.Getenv(without) == "" {
		os.Exit(m.Run())
	}
	err := hideLandlock()
	if err == nil {
		err = syscall.Exec(os.Args[1], os.Args[1:], slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, without) }))
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// hideLandlock has the kernel answer this process, and what it executes, as one without
// Landlock does.
func hideLandlock() error {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the number of the call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_LANDLOCK_CREATE_RULESET, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return errno
	}
	return nil
}

// TestNoJail: on a kernel without Landlock the service does not start and says what is lacking;
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
