package freeport

import (
	"net"
	"testing"
)

// TestPort checks that a port can be listened on, is none for outgoing connections, and is used once.
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
