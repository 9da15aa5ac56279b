package jail

import (
	"bytes"
	"iter"
	"os"
	"path/filepath"
	"strconv"
)

// process is a process of a group, read from /proc/PID/stat.
type process struct {
	pid int
	// state is a letter: Z is a zombie.
	state         byte
	parent, group int
}

// dir returns the directory of the process in /proc.
func (p process) dir() string { return filepath.Join("/proc", strconv.Itoa(p.pid)) }

// members returns the processes of a process group. Processes that cannot be read have ended.
func members(number int) iter.Seq[process] {
	return func(yield func(process) bool) {
		entries, _ := os.ReadDir("/proc")
		for _, entry := range entries {
			pid, err := strconv.Atoi(entry.Name())
			if err != nil {
				continue
			}
			p := process{pid: pid}
			stat, err := os.ReadFile(filepath.Join(p.dir(), "stat"))
			if err == nil && p.read(stat) && p.group == number && !yield(p) {
				return
			}
		}
	}
}

// read parses a /proc/PID/stat and reports whether that succeeded. The name of the program, in
// parentheses, may contain anything.
func (p *process) read(stat []byte) bool {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 3 {
		return false
	}
	p.state = fields[0][0]
	var errs [2]error
	p.parent, errs[0] = strconv.Atoi(string(fields[1]))
	p.group, errs[1] = strconv.Atoi(string(fields[2]))
	return errs == [2]error{}
}
