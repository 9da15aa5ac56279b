package heap

import (
	"bytes"
	"os"
	"syscall"
)

// enabled is the file that says which programs have huge pages, as "always [madvise] never".
const enabled = "/sys/kernel/mm/transparent_hugepage/enabled"

// advised reports whether programs have huge pages that advise it, and no others. It is true
// where that cannot be known, as in a jail.
func advised() bool {
	modes, err := os.ReadFile(enabled)
	return err != nil || bytes.Contains(modes, []byte("[madvise]"))
}

// advise asks for huge pages for a block of memory. A kernel without them refuses, which is no
// harm. It is of package syscall, which is initialised before golang.org/x/sys/unix.
func advise(block []byte) { _ = syscall.Madvise(block, syscall.MADV_HUGEPAGE) }
