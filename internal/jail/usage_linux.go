package jail

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// used is what the processes of a group use together.
type used struct {
	processes int
	// memory that is kept for them alone, in bytes; see memoryOf.
	memory int64
}

// usage adds up what the processes of a group use.
func usage(number int) used {
	var all used
	for p := range members(number) {
		all.processes++
		status, _ := os.ReadFile(filepath.Join(p.dir(), "status")) // unless it has ended
		all.memory += memoryOf(status)
	}
	return all
}

// threadKiB is what the kernel keeps for a thread: its kernel stack and structures.
const threadKiB = 32

// memoryOf returns the memory that is kept for a process, from its /proc/PID/status, in
// bytes: pages of its own or shared with others, in memory or swapped out, the tables
// of them, and its threads. Not pages of files on disk, which can be read again.
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
