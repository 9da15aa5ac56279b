package jail

import (
	"strings"
	"testing"
)

func TestOutputKeepsBothEnds(t *testing.T) {
	s := &output{}
	for range 100 {
		_, _ = s.Write([]byte("first\n" + strings.Repeat("x", keptOutput/8)))
	}
	_, _ = s.Write([]byte("last"))
	got := s.String()
	if !strings.HasPrefix(got, "first\n") || !strings.HasSuffix(got, "last") || len(got) > 2*keptOutput+len("\n...\n") {
		t.Errorf("kept %d bytes: %.20q ... %q", len(got), got, got[len(got)-20:])
	}
	short := &output{}
	_, _ = short.Write([]byte("all of it"))
	if got := short.String(); got != "all of it" {
		t.Errorf("kept %q", got)
	}
}
