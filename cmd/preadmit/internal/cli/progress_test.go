package cli

import (
	"strings"
	"testing"
	"time"
)

func TestProgress(t *testing.T) {
	var out strings.Builder
	now := time.Unix(0, 0)
	p := startProgress(&out, func() time.Time { return now })
	step := func(after time.Duration, stage string, done, total int) string {
		out.Reset()
		now = now.Add(after)
		p.Update(stage, done, total)
		return out.String()
	}
	if got := step(900*time.Millisecond, "rendering", 1, 9); got != "" {
		t.Errorf("before a second: %q, want nothing", got)
	}
	if got, want := step(100*time.Millisecond, "rendering", 2, 9), "\r\x1b[Krendering 2/9"; got != want {
		t.Errorf("after a second: %q, want %q", got, want)
	}
	if got := step(50*time.Millisecond, "rendering", 3, 9); got != "" {
		t.Errorf("50 ms later: %q, want nothing yet", got)
	}
	if got, want := step(50*time.Millisecond, "judging", 0, 0), "\r\x1b[Kjudging"; got != want {
		t.Errorf("100 ms later: %q, want %q", got, want)
	}
	out.Reset()
	p.Erase()
	if got, want := out.String(), "\r\x1b[K"; got != want {
		t.Errorf("erased with %q, want %q", got, want)
	}
	if got := step(time.Hour, "late", 1, 1); got != "" {
		t.Errorf("after the end: %q, want nothing", got)
	}
}

func TestProgressOfShortWork(t *testing.T) {
	var out strings.Builder
	p := startProgress(&out, func() time.Time { return time.Unix(0, 0) })
	p.Update("rendering", 1, 2)
	p.Erase()
	if out.Len() > 0 {
		t.Errorf("short work wrote %q, want nothing", out.String())
	}
}

func TestProgressOnPipe(t *testing.T) {
	p := NewProgress(Process{Stderr: &strings.Builder{}, Getenv: func(string) string { return "" }}, false)
	if p != nil {
		t.Fatal("a pipe gets a progress line")
	}
	p.Update("rendering", 1, 2) // a nil progress shows nothing
	p.Erase()
}
