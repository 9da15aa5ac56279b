package early

import (
	"syscall"
	"unsafe"
)

// enabled is the file that says which programs have huge pages.
const enabled = "/sys/kernel/mm/transparent_hugepage/enabled"

// advised reports whether programs have huge pages that advise it, and no others. It is true
// where that cannot be known, as in a jail.
func advised() bool {
	file, err := syscall.Open(enabled, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return true
	}
	defer func() { _ = syscall.Close(file) }() // nothing was written
	var modes [64]byte
	n, err := syscall.Read(file, modes[:])
	return err != nil || string(modes[:n]) == "always [madvise] never\n"
}

// advise asks for huge pages for addresses. A kernel without them refuses, which is no harm.
func advise(at, size uintptr) {
	_, _, _ = syscall.RawSyscall(syscall.SYS_MADVISE, at, size, syscall.MADV_HUGEPAGE)
}

// addressOf returns the address of a block of memory.
func addressOf(block []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(block))) }
