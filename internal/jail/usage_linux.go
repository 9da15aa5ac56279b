package jail

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// used is the resource usage of a process group.
type used struct {
	processes int
	// memory is the private memory of all of them, in bytes; see memoryOf.
	memory int64
}

// usage returns the usage of a process group.
func usage(number int) used {
	var all used
	for p := range members(number) {
		all.processes++
		status, _ := os.ReadFile(filepath.Join(p.dir(), "status")) // empty if it has ended
		all.memory += memoryOf(status)
	}
	return all
}

// threadKiB is the kernel memory of a thread: its kernel stack and structures.
const threadKiB = 32

// memoryOf returns the private memory of a process, from its /proc/PID/status, in bytes:
// anonymous and shared pages, in memory or swapped out, page tables, and threads. Pages of
// files on disk do not count, since the kernel can read them again.
func memoryOf(status []byte) int64 {
	var kib int64
	for line := range bytes.Lines(status) {
		fields := bytes.Fields(line)
		if len(fields) < 2 {
			continue
		}
		n, _ := strconv.ParseInt(string(fields[1]), 10, 64)
		switch string(fields[0]) {
		case "RssAnon:", "RssShmem:", "VmSwap:", "VmPTE:":
			kib += n
		case "Threads:":
			kib += n * threadKiB
		}
	}
	return kib << 10
}
