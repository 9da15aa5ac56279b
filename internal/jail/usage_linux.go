package jail

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// used is what the processes of a group use.
type used struct {
	processes int
	// memory they have for themselves, in bytes: not what they share with files.
	memory int64
}

// usage adds up what the processes of a group use. What it cannot read has ended.
func usage(group int) used {
	var all used
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		if _, err := strconv.Atoi(entry.Name()); err != nil {
			continue
		}
		dir := filepath.Join("/proc", entry.Name())
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil || groupOf(stat) != group {
			continue
		}
		all.processes++
		statm, _ := os.ReadFile(filepath.Join(dir, "statm"))
		all.memory += ownMemory(statm)
	}
	return all
}

// groupOf is the process group that a /proc/PID/stat tells; 0 when it tells none. The
// name of the program, in parentheses, may hold anything.
func groupOf(stat []byte) int {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 3 {
		return 0
	}
	group, _ := strconv.Atoi(string(fields[2]))
	return group
}

// ownMemory is what a /proc/PID/statm tells of resident memory that is not shared.
func ownMemory(statm []byte) int64 {
	fields := bytes.Fields(statm)
	if len(fields) < 3 {
		return 0
	}
	resident, _ := strconv.ParseInt(string(fields[1]), 10, 64)
	shared, _ := strconv.ParseInt(string(fields[2]), 10, 64)
	return (resident - shared) * int64(os.Getpagesize())
}
