package hostile

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
)

// TokenVariable is the environment variable for the canary's token, in the process that
// starts a scan.
const TokenVariable = "TEST_CANARY"

// Canary has what no attack may reach: a token in the environment, a file outside of the
// repository, a port of the loopback interface.
type Canary struct {
	// Token is for TokenVariable.
	Token string
	// File is the path of a file that contains Secret.
	File, Secret string
	// Address is host:port of a listener.
	Address string

	listener    net.Listener
	connections atomic.Int64
}

// NewCanary creates a canary in a directory, which must be outside of repositories.
func NewCanary(dir string) (*Canary, error) {
	c := &Canary{Token: rand.Text(), Secret: rand.Text(), File: filepath.Join(dir, "outside.yaml")}
	content := fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: outside}, data: {secret: %s}}\n", c.Secret)
	if err := os.WriteFile(c.File, []byte(content), 0o644); err != nil {
		return nil, fmt.Errorf("write the canary's file: %w", err)
	}
	var err error
	if c.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	c.Address = c.listener.Addr().String()
	go c.count()
	return c, nil
}

func (c *Canary) count() {
	for {
		conn, err := c.listener.Accept()
		if err != nil {
			return
		}
		c.connections.Add(1)
		_ = conn.Close()
	}
}

// Close closes the listener.
func (c *Canary) Close() error { return c.listener.Close() }

// Reached describes what was reached, from the connections and the output of a scan; it returns ""
// if nothing was.
func (c *Canary) Reached(output []byte) string {
	var reached []string
	if n := c.connections.Load(); n > 0 {
		reached = append(reached, fmt.Sprintf("the port had %d connections", n))
	}
	if bytes.Contains(output, []byte(c.Secret)) {
		reached = append(reached, "the file was read")
	}
	if bytes.Contains(output, []byte(c.Token)) {
		reached = append(reached, "the token was read")
	}
	return strings.Join(reached, ", ")
}
