package freeport

import (
	"net"
	"testing"
)

// TestPort: a port can be listened on, is none that outgoing connections get, and is given out once.
func TestPort(t *testing.T) {
	t.Parallel()
	seen := map[int]bool{}
	for range 100 {
		port := Port(t)
		if port < first || port > last {
			t.Errorf("port %d", port)
		}
		if seen[port] {
			t.Errorf("port %d a second time", port)
		}
		seen[port] = true
	}
	at := Address(t)
	l, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := net.Listen("tcp", at); err == nil {
		t.Errorf("two listen on %s", at)
	}
}
