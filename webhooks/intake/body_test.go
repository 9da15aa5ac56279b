package intake

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/preadmit/preadmit/webhooks/metrics"
)

// padded returns JSON of n bytes.
func padded(n int) []byte {
	return append(bytes.Repeat([]byte(" "), n-len(ping)), ping...)
}

// TestLargestBody checks that bodies of up to MaxBody are accepted, and not a byte more, with or without
// a Content-Length.
func TestLargestBody(t *testing.T) {
	t.Parallel()
	d := open(t, nil)
	body := padded(MaxBody)
	for _, chunked := range []bool{false, true} {
		for more, want := range []int{http.StatusOK, http.StatusRequestEntityTooLarge} {
			body := append(bytes.Clone(body), strings.Repeat(" ", more)...)
			r := d.request("ping", uuid.NewString(), body)
			if chunked {
				r.ContentLength = -1
			}
			answer, err := d.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if answer.StatusCode != want {
				t.Errorf("%d bytes, chunked %v: answered %d, want %d", len(body), chunked, answer.StatusCode, want)
			}
		}
	}
}

// dial sends the header of a request, and returns the connection.
func (d *server) dial(header string) (net.Conn, *bufio.Reader) {
	d.t.Helper()
	conn, err := net.Dial("tcp", d.Listener.Addr().String())
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		d.t.Fatal(err)
	}
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-GitHub-Event: ping\r\nX-GitHub-Delivery: %s\r\n%s\r\n",
		uuid.NewString(), header)
	return conn, bufio.NewReader(conn)
}

// answered returns the response's status, and whether the connection is closed after it.
func (d *server) answered(in *bufio.Reader) (int, bool) {
	d.t.Helper()
	answer, err := http.ReadResponse(in, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		d.t.Fatal(err)
	}
	_, err = in.ReadByte()
	// A connection that is closed while the client writes is reset.
	return answer.StatusCode, errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)
}

// TestUnread checks that a request with an invalid header is rejected before the body is sent.
func TestUnread(t *testing.T) {
	t.Parallel()
	d := open(t, nil)
	signature := "X-Hub-Signature-256: " + sign(secret, []byte(ping)) + "\r\n"
	for _, test := range []struct {
		name, header string
		status       int
	}{
		{"too large", signature + fmt.Sprintf("Content-Length: %d\r\n", MaxBody+1), 413},
		{"far too large", signature + "Content-Length: 9000000000000000000\r\n", 413},
		{"no signature", "Content-Length: 1000000\r\n", 401},
		{"no signature, small", "Content-Length: 10\r\n", 401},
		{"no signature, chunked", "Transfer-Encoding: chunked\r\n", 401},
	} {
		began := time.Now()
		_, in := d.dial(test.header)
		status, closed := d.answered(in)
		if took := time.Since(began); status != test.status || !closed || took > 2*refusedWait {
			t.Errorf("%s: answered %d after %v (closed: %v), want %d", test.name, status, took, closed, test.status)
		}
	}
}

// TestSlowBody checks that a body has a time limit, however it is sent.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	d := open(t, nil, func(c *Config) { c.BodyTimeout = 300 * time.Millisecond })
	header := "X-Hub-Signature-256: " + sign(secret, []byte(ping)) + "\r\n"
	for _, framing := range []string{"Content-Length: 1000\r\n", "Transfer-Encoding: chunked\r\n"} {
		began := time.Now()
		conn, in := d.dial(header + framing)
		stop := make(chan struct{})
		go func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(50 * time.Millisecond):
					_, _ = io.WriteString(conn, "1\r\n \r\n") // until the server closes the connection
				}
			}
		}()
		status, closed := d.answered(in)
		close(stop)
		if took := time.Since(began); status != http.StatusRequestTimeout || !closed || took > 5*time.Second {
			t.Errorf("%q: answered %d after %v, closed: %v", framing, status, took, closed)
		}
	}
}

// TestDeadline checks that a connection without read deadlines is not read from.
func TestDeadline(t *testing.T) {
	t.Parallel()
	d := open(t, nil)
	w := &plainWriter{header: http.Header{}}
	r := d.request("ping", uuid.NewString(), []byte(ping))
	New(Config{Queue: d.queue, Secrets: func() [][]byte { return [][]byte{[]byte(secret)} }, AppID: func() int64 { return 1 }}).ServeHTTP(w, r)
	if w.status != http.StatusServiceUnavailable || !strings.Contains(w.String(), "deadline") {
		t.Errorf("answered %d %s", w.status, w.String())
	}
}

// plainWriter implements only http.ResponseWriter.
type plainWriter struct {
	bytes.Buffer
	header http.Header
	status int
}

func (w *plainWriter) Header() http.Header    { return w.header }
func (w *plainWriter) WriteHeader(status int) { w.status = status }

// TestBudget checks that large bodies that do not end leave memory for small ones, and count until they
// are given up.
func TestBudget(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	d := open(t, nil, func(c *Config) {
		c.Memory, c.BodyTimeout, c.Metrics = minMemory, time.Minute, metrics.New(registry).Intake
	})
	header := fmt.Sprintf("X-Hub-Signature-256: %s\r\nContent-Length: %d\r\n", sign("x", nil), MaxBody)
	// Each of these takes 25 MiB of the 96 MiB for large bodies.
	var stalled []net.Conn
	for i := range 3 {
		conn, _ := d.dial(header)
		if _, err := conn.Write(padded(17 << 20)); err != nil {
			t.Fatal(err)
		}
		stalled = append(stalled, conn)
		// While a body is copied to its last buffer it takes both, so that another one might be rejected.
		eventually(t, "a large body has its room", func() bool { return heldBytes(t, registry) == (i+1)*(MaxBody+1) })
	}
	large := padded(20 << 20)
	eventually(t, "a fourth large body finds no room", func() bool {
		answer, err := d.Client().Do(d.request("ping", uuid.NewString(), large))
		if err != nil {
			return false // rejected while it was being sent
		}
		answer.Body.Close()
		return answer.StatusCode == http.StatusServiceUnavailable && answer.Header.Get("Retry-After") != ""
	})
	if status, text := d.deliver("pull_request", opened(1)); status != http.StatusAccepted {
		t.Errorf("a small body beside them: answered %d %s", status, text)
	}
	for _, conn := range stalled {
		conn.Close()
	}
	eventually(t, "the room of those who left is free", func() bool {
		answer, err := d.Client().Do(d.request("ping", uuid.NewString(), large))
		if err != nil {
			return false
		}
		answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
}

// heldBytes returns the memory that bodies hold.
func heldBytes(t *testing.T, registry *prometheus.Registry) int {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "preadmit_webhook_held_bytes" {
			return int(f.GetMetric()[0].GetGauge().GetValue())
		}
	}
	return 0
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(50 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if is() {
			return
		}
	}
	t.Errorf("not within 50 s: %s", what)
}

// TestRoom checks that the memory of a body is released however reading ends, and is never more than
// about twice the received size.
func TestRoom(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		body io.Reader
		most int64
		err  error
	}{
		{"nothing", strings.NewReader(""), 0, nil},
		{"little", bytes.NewReader(padded(firstBuffer - 1)), 0, nil},
		{"a byte at a time", iotest.OneByteReader(bytes.NewReader(padded(100_000))), 2 * 100_000, nil},
		{"all that is allowed", bytes.NewReader(padded(MaxBody)), MaxBody + 1, nil},
		{"a byte more", bytes.NewReader(padded(MaxBody + 1)), MaxBody + 1, errLarge},
		{"without end", endless{}, MaxBody + 1, errLarge},
		{"until it breaks", iotest.TimeoutReader(bytes.NewReader(padded(1 << 20))), 1 << 20, iotest.ErrTimeout},
	} {
		t.Run(test.name, func(t *testing.T) {
			budget := newBudget(0)
			in := &room{budget: budget}
			_, err := in.read(test.body)
			if !errors.Is(err, test.err) || in.held > test.most {
				t.Errorf("ended with %v, holding %d bytes", err, in.held)
			}
			in.release()
			if !budget.small.TryAcquire(minMemory/4) || !budget.large.TryAcquire(minMemory-minMemory/4) {
				t.Error("something was not given back")
			}
		})
	}
}

// TestSilence checks that connections that send no body do not use up the memory.
func TestSilence(t *testing.T) {
	t.Parallel()
	budget := newBudget(0)
	const many = 1 + minMemory/4/(32<<10) // enough to use all of it with 32 KiB each
	bodies := make([]*io.PipeWriter, many)
	var reading sync.WaitGroup
	for i := range bodies {
		body, end := io.Pipe()
		bodies[i] = end
		reading.Go(func() {
			if _, err := (&room{budget: budget}).read(body); err != nil {
				t.Errorf("a silent body ended with %v", err)
			}
		})
		_, _ = end.Write(nil) // returns once it is being read
	}
	in := &room{budget: budget}
	if _, err := in.read(bytes.NewReader(padded(100_000))); err != nil {
		t.Errorf("a payload among silent connections: %v", err)
	}
	for _, end := range bodies {
		end.Close()
	}
	reading.Wait()
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
