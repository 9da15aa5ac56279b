package testall

import (
	"os"
	"testing"

	"github.com/preadmit/preadmit/internal/heap"
)

// Variable is the environment variable that selects all tests when it is "1".
const Variable = "PREADMIT_TEST_ALL"

// Enabled reports whether this run has all tests.
func Enabled() bool { return os.Getenv(Variable) == "1" }

// Long skips the test unless all tests are run.
func Long(t testing.TB) {
	t.Helper()
	if !Enabled() {
		t.Skipf("takes long: `make test-all` runs it, or %s=1 go test -run '^%s$'", Variable, t.Name())
	}
}

// Count returns how many generated cases a test runs: few of them, or all.
func Count(few, all int) int {
	if Enabled() {
		return all
	}
	return few
}

// Sample returns the cases of a list that a test runs: few of them, spread over the list, or
// all.
func Sample[T any](all []T, few int) []T {
	if Enabled() || len(all) <= few {
		return all
	}
	sample := make([]T, few)
	for i := range sample {
		sample[i] = all[i*len(all)/few]
	}
	return sample
}

// heapGrowth is the growth of the heap between garbage collections, in percent, for the tests
// that allocate most: collections took a fifth of their time.
const heapGrowth = 300

// Heap lets the heap of this process grow more between garbage collections. TestMain calls it in
// packages whose tests allocate much and do not measure memory.
func Heap() { heap.Grow(heapGrowth) }
