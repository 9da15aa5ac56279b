package jail

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Check returns an *UnavailableError if this system lacks something that a jail needs.
func Check() error {
	if _, err := landlockVersion(); err != nil {
		return err
	}
	return checkSeccomp()
}

// landlockVersion returns the version of Landlock's ABI in the kernel.
func landlockVersion() (int, error) {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch {
	case errno == 0:
		return int(version), nil
	case errors.Is(errno, unix.EOPNOTSUPP):
		return 0, &UnavailableError{Why: "Landlock is switched off in this kernel: add landlock to the lsm= parameter it is booted with"}
	case errors.Is(errno, unix.ENOSYS):
		return 0, &UnavailableError{Why: "this kernel has no Landlock: use Linux 5.13 or later with CONFIG_SECURITY_LANDLOCK, and a container runtime whose seccomp profile knows it"}
	}
	return 0, &UnavailableError{Why: fmt.Sprintf("Landlock is refused (%v): allow its system calls in the seccomp profile of the container", errno)}
}

func checkSeccomp() error {
	if arch == 0 {
		return &UnavailableError{Why: fmt.Sprintf("no filter of system calls is known for %s: run this on amd64 or arm64", runtime.GOARCH)}
	}
	action := uint32(unix.SECCOMP_RET_ERRNO)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	if errno != 0 {
		return &UnavailableError{Why: fmt.Sprintf("the kernel cannot filter system calls (%v): it needs CONFIG_SECCOMP_FILTER, and a container runtime that allows seccomp", errno)}
	}
	return nil
}
