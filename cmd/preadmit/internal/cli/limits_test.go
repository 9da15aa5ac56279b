package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/report"
)

// TestScanLimits: a scan that takes too much time or memory ends with exit code 3 and a message
// on what it was doing, whether or not it can be interrupted.
func TestScanLimits(t *testing.T) {
	forever := make(chan struct{})
	t.Cleanup(func() { close(forever) })
	for name, test := range map[string]struct {
		limits Limits
		scan   func(context.Context) (*report.Report, error)
		want   string // of the error, empty for none
	}{
		"in time": {
			Limits{timeout: time.Hour, memory: 100, heap: func() uint64 { return 100 << 20 }},
			func(context.Context) (*report.Report, error) { return &report.Report{}, nil }, "",
		},
		"no limits": {
			Limits{heap: func() uint64 { return 1 << 62 }},
			func(context.Context) (*report.Report, error) {
				time.Sleep(2 * sampleEvery)
				return &report.Report{}, nil
			}, "",
		},
		"too long": {
			Limits{timeout: time.Nanosecond},
			func(ctx context.Context) (*report.Report, error) { <-ctx.Done(); return nil, ctx.Err() },
			"stopped while judging (1 of 2 done): CREATE ConfigMap default/a: it took more than the 1ns of --timeout",
		},
		"too long, cannot be interrupted": {
			Limits{timeout: time.Nanosecond},
			func(context.Context) (*report.Report, error) { <-forever; return nil, nil },
			"it took more than the 1ns of --timeout",
		},
		"too much": {
			Limits{memory: 100, heap: func() uint64 { return 101 << 20 }},
			func(ctx context.Context) (*report.Report, error) { <-ctx.Done(); return nil, ctx.Err() },
			"it took more than the 100 MiB of --memory-limit",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doing := NewActivity()
			doing.Update("judge", 1, 2)
			doing.Begin("UPDATE ConfigMap default/b")()
			doing.Begin("CREATE ConfigMap default/a")
			r, err := Within(t.Context(), &test.limits, doing, test.scan)
			exit := new(ExitError)
			switch {
			case test.want == "" && (err != nil || r == nil):
				t.Errorf("got %v, %v", r, err)
			case test.want != "" && (!errors.As(err, &exit) || exit.Code != ExitIncomplete || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// TestLimitsCrash: the stack of a panic in a scan is that of the scan's goroutine.
func TestLimitsCrash(t *testing.T) {
	defer func() {
		p := recover()
		if stack := string(StackOf(p)); fmt.Sprint(p) != "told to" || !strings.Contains(stack, "crashingScan") {
			t.Errorf("recovered %v from %s, want the place in crashingScan", p, stack)
		}
	}()
	l := NewLimits()
	_, _ = Within(t.Context(), &l, NewActivity(), crashingScan)
}

func crashingScan(context.Context) (*report.Report, error) { panic("told to") }
