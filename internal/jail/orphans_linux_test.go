package jail

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

// adopter runs programs that leave processes behind, several at a time, and prints how they ended, and
// its own children after all Waits.
func adopter() int {
	if err := AdoptOrphans(); err != nil {
		fmt.Println(err)
		return 1
	}
	ends := make([]string, 6)
	var all sync.WaitGroup
	for i := range ends {
		all.Go(func() { ends[i] = leaveBehind() })
	}
	all.Wait()
	fmt.Println(ends, children())
	return 0
}

// leaveBehind runs a program that leaves processes behind, and returns how it ended.
func leaveBehind() string {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	c := Command{Program: os.Args[0], Args: []string{"probe", "spin in children"}, Input: []byte("\n")}
	child, err := c.Start(ctx)
	if err != nil {
		return err.Error()
	}
	got, err := io.ReadAll(child.Results)
	end := child.Wait()
	return fmt.Sprintf("%q %v %d%s", got, err, end.Code, end.Signal)
}

// children returns the child processes of this one, including zombies.
func children() []int {
	out := []int{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		stat, _ := os.ReadFile(file)
		if p := (process{}); p.read(stat) && p.parent == os.Getpid() {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			out = append(out, pid)
		}
	}
	return out
}

// TestOrphans checks that the process that adopts orphans has no children left after Wait, and still
// learns how the programs themselves ended.
func TestOrphans(t *testing.T) {
	out, err := exec.Command(os.Args[0], "adopter").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := fmt.Sprintln(slices.Repeat([]string{`"done\n" <nil> 0`}, 6), []int{})
	if string(out) != want {
		t.Errorf("got %q, want %q", out, want)
	}
}

// TestProcess checks that a process is parsed whatever the name of its program.
func TestProcess(t *testing.T) {
	for stat, want := range map[string]process{
		"7 (scan) S 3 5 9 0":           {state: 'S', parent: 3, group: 5},
		"7 (a) Z 1 2 3 (b\n) Z 4 6 1 ": {state: 'Z', parent: 4, group: 6},
	} {
		var got process
		if !got.read([]byte(stat)) || got != want {
			t.Errorf("%q: %+v, want %+v", stat, got, want)
		}
	}
	for _, stat := range []string{"", "7 (scan)", "7 (scan) S x 5", "7 (scan) S 3 x"} {
		if p := (process{}); p.read([]byte(stat)) {
			t.Errorf("%q: %+v", stat, p)
		}
	}
}
