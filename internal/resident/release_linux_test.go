package resident

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// TestRelease: pages of the program's file that were read are not resident after Release.
func TestRelease(t *testing.T) {
	program := mapped(t, syscall.PROT_READ)
	sum := byte(0)
	for i := 0; i < len(program); i += os.Getpagesize() {
		sum += program[i]
	}
	if resident := residentOf(t, program); resident < len(program) {
		t.Fatalf("%d of %d bytes are resident after reading all (%d)", resident, len(program), sum)
	}
	Release()
	if resident := residentOf(t, program); resident != 0 {
		t.Errorf("%d of %d bytes are resident after Release", resident, len(program))
	}
}

// TestReleaseKeepsModified: a page that was modified and then made read-only, as a loader does, keeps its
// content.
func TestReleaseKeepsModified(t *testing.T) {
	program := mapped(t, syscall.PROT_READ|syscall.PROT_WRITE)
	program[0]++
	want := program[0]
	if err := syscall.Mprotect(program, syscall.PROT_READ); err != nil {
		t.Fatal(err)
	}
	Release()
	if program[0] != want {
		t.Errorf("the modified byte is %d after Release, want %d", program[0], want)
	}
}

// mapped returns a private mapping of the program's file.
func mapped(t *testing.T, protection int) []byte {
	t.Helper()
	file, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }() // nothing was written
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	data, err := syscall.Mmap(int(file.Fd()), 0, int(info.Size()), protection, syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(data) })
	return data
}

// residentOf returns how many bytes of a mapping are resident.
func residentOf(t *testing.T, mapping []byte) int {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	_, of, ok := strings.Cut(string(maps), fmt.Sprintf("%08x-", unsafe.SliceData(mapping)))
	if !ok {
		t.Fatal("/proc/self/smaps does not have the mapping")
	}
	_, of, _ = strings.Cut(of, "\nRss:")
	kilobytes := 0
	if _, err := fmt.Sscan(of, &kilobytes); err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}
