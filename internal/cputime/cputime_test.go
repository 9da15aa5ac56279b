//go:build unix

package cputime_test

import (
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/cputime"
)

func TestUsed(t *testing.T) {
	before := cputime.Used()
	time.Sleep(200 * time.Millisecond)
	if spent := cputime.Used() - before; spent < 0 || spent > 150*time.Millisecond {
		t.Errorf("sleeping took %v of processor time", spent)
	}
}
