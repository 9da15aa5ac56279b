// Package freeport finds ports of this machine for tests of servers that cannot report the port that
// they got: programs with a configuration file, and clusters whose members need each other's ports in
// advance.
//
// A port that the system chose, for a listener on port 0 that is closed again, may be in use a moment
// later: the system assigns ports of the same range to outgoing connections, and tests run in parallel.
// So ports are taken from below that range, and no process gets one twice.
package freeport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

// Ports from first to last are used. Linux uses 32768 and above for outgoing connections unless
// configured otherwise (ip_local_port_range, https://docs.kernel.org/networking/ip-sysctl.html), other
// systems use 49152 and above (RFC 6335).
const first, last = 10_000, 32_767

var (
	mu    sync.Mutex
	given = map[int]bool{}
)

// Find returns a TCP port that is free on 127.0.0.1, another one for each call.
func Find() (int, error) {
	mu.Lock()
	defer mu.Unlock()
	var why error
	for range 1_000 {
		port := first + rand.IntN(last-first+1)
		if given[port] {
			continue
		}
		l, err := net.Listen("tcp", address(port))
		if err != nil {
			why = err
			continue
		}
		given[port] = true
		return port, l.Close()
	}
	return 0, fmt.Errorf("find a free port: %w", errors.Join(why, errors.New("1000 attempts failed")))
}

// Port returns a port like Find.
func Port(t testing.TB) int {
	t.Helper()
	port, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// Address returns 127.0.0.1 with a port like Find.
func Address(t testing.TB) string {
	t.Helper()
	return address(Port(t))
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
