package jail

import "testing"

// TestMemoryOf checks that all private memory of a process counts, and pages of files do not.
func TestMemoryOf(t *testing.T) {
	const status = "Name:\tRssAnon:\nUmask:\t0022\nVmPeak:\t 9000000 kB\nVmRSS:\t   76000 kB\nRssAnon:\t    1000 kB\n" +
		"RssFile:\t   70000 kB\nRssShmem:\t    5000 kB\nVmPTE:\t     300 kB\nVmSwap:\t      20 kB\nThreads:\t10\n"
	for text, want := range map[string]int64{
		status:                        (1000 + 5000 + 300 + 20 + 10*threadKiB) << 10,
		"Name:\tx\nState:\tZ\n":       0, // has ended
		"":                            0,
		"RssAnon:\nThreads:\nVmPTE\n": 0,
	} {
		if got := memoryOf([]byte(text)); got != want {
			t.Errorf("%d of %q, want %d", got, text, want)
		}
	}
}
