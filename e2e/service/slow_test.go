package service

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// memory returns a value of the process's status, like VmRSS, in bytes; 0 if it is unknown.
func (r *replica) memory(name string) int64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.cmd.Process.Pid)) // it may be gone
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return n << 10
		}
	}
	return 0
}

// TestSlow: connections that send headers or a body one byte at a time are closed, and others
// are answered meanwhile.
func TestSlow(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	r := w.start(t.TempDir(), options{"RECONCILE_EVERY": "0s"})
	const each = 150
	body := []byte(strings.Repeat(" ", 1000))
	headers := "POST /webhooks/github HTTP/1.1\r\nHost: preadmit\r\nContent-Type: application/json\r\nX-GitHub-Event: push\r\n"
	whole := headers + "X-GitHub-Delivery: " + guid(1) + "\r\nContent-Length: 1000\r\n" + signed + ": " +
		signature("sha256", sha256.New, w.app.WebhookSecret(), body) + "\r\n\r\n"
	var all sync.WaitGroup
	ends := make(chan ending, 2*each)
	for range each {
		all.Go(func() { ends <- trickle(r, headers, "X") })
		all.Go(func() { ends <- trickle(r, whole, " ") })
	}
	time.Sleep(time.Second)
	w.answersPromptly(r)
	number := w.pull(w.shop, "change", "deny")
	w.judged(w.shop.Pull(number).HeadSHA, "failure", denied)
	all.Wait()
	close(ends)
	counts, longest := map[string]int{}, time.Duration(0)
	for e := range ends {
		counts[e.how]++
		longest = max(longest, e.after)
	}
	t.Logf("%v, the last after %v", counts, longest.Round(time.Millisecond))
	if counts["408"] != each || counts["400"]+counts["hung up"] != each {
		t.Errorf("connections ended %v; want %d bodies answered 408, and as many headers refused", counts, each)
	}
	if longest > 15*time.Second {
		t.Errorf("a connection was held for %v", longest)
	}
}

// answersPromptly sends small deliveries and checks the response times.
func (w *env) answersPromptly(r *replica) {
	w.t.Helper()
	var longest time.Duration
	for i := range 50 {
		began := time.Now()
		r.wants("a ping", ownDelivery{event: "ping", guid: guid(i), body: []byte("{}")}, http.StatusOK)
		longest = max(longest, time.Since(began))
	}
	w.t.Logf("the slowest of 50 answers took %v", longest.Round(time.Microsecond))
	if longest > 5*time.Second {
		w.t.Errorf("an answer took %v", longest)
	}
}

// ending describes how a connection ended.
type ending struct {
	how   string // the status of the response, or that it was closed
	after time.Duration
}

// trickle sends a text, then single bytes at intervals until the connection is closed.
func trickle(r *replica, text, rest string) ending {
	began := time.Now()
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		return ending{err.Error(), 0}
	}
	defer conn.Close()
	_ = conn.SetDeadline(began.Add(time.Minute))
	go func() {
		for _, err := conn.Write([]byte(text)); err == nil; _, err = conn.Write([]byte(rest)) {
			time.Sleep(500 * time.Millisecond)
		}
	}()
	how := "hung up"
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err == nil {
		how = strconv.Itoa(resp.StatusCode)
		_ = resp.Body.Close()
	}
	return ending{how, time.Since(began)}
}
