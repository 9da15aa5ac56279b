package heap

import "testing"

func TestGrowth(t *testing.T) {
	for _, test := range []struct {
		live, scanned, least uint64
		want                 int
	}{
		{live: 10, scanned: 10, least: 40, want: percentMost},
		{live: 10, scanned: 25, least: 40, want: 120},
		{live: 30, scanned: 35, least: 40, want: percent},
		{live: 50, scanned: 55, least: 40, want: percent},
		{live: 0, scanned: 0, least: 40, want: percent},
	} {
		if got := growth(test.live, test.scanned, test.least); got != test.want {
			t.Errorf("growth(%d, %d, %d) = %d, want %d", test.live, test.scanned, test.least, got, test.want)
		}
	}
}
