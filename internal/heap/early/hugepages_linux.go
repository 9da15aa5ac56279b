package early

import (
	"syscall"
	"unsafe"
)

// enabled is the file with the setting for transparent huge pages.
const enabled = "/sys/kernel/mm/transparent_hugepage/enabled"

// advised reports whether exactly the programs that request huge pages get them. It returns true
// if that is unknown, as in a jail.
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

// advise requests huge pages for addresses. An error of a kernel without them is ignored.
func advise(at, size uintptr) {
	_, _, _ = syscall.RawSyscall(syscall.SYS_MADVISE, at, size, syscall.MADV_HUGEPAGE)
}

// addressOf returns the address of a block of memory.
func addressOf(block []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(block))) }
