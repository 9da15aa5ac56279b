package resident

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// Release unmaps the pages of the program's file. They stay in the kernel's page cache, and are mapped again
// when they are used. The initialisation of hundreds of packages uses more of them than most scans do later.
//
// Only unmodified pages are unmapped: those of mappings that the process cannot write and has never written.
// The loader writes to read-only data of a position-independent program, for example. Without /proc, as in a
// jail, nothing is unmapped. See MADV_DONTNEED in madvise(2), and Anonymous in proc_pid_smaps(5).
func Release() {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer func() { _ = maps.Close() }() // nothing was written
	var begin, end uintptr
	ofProgram := false
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		switch key, value, _ := strings.Cut(lines.Text(), " "); {
		case !strings.HasSuffix(key, ":"):
			_, err = fmt.Sscanf(key, "%x-%x", &begin, &end)
			writable := len(value) < 2 || value[1] == 'w'
			ofProgram = err == nil && !writable && strings.HasSuffix(value, " "+program)
		case ofProgram && key == "Anonymous:" && strings.TrimSpace(value) == "0 kB":
			_, _, _ = syscall.RawSyscall(syscall.SYS_MADVISE, begin, end-begin, syscall.MADV_DONTNEED)
		}
	}
}
