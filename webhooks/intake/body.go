package intake

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/preadmit/preadmit/webhooks/metrics"
)

// MaxBody is the maximum size of a payload, in bytes: 25 MB, according to "Webhook events
// and payloads" of GitHub's documentation. GitHub does not send larger ones.
const MaxBody = 25 << 20

// firstBuffer is the initial size of a body's buffer, in bytes. It is no more than the cost of the
// connection itself, and does not count in the budget: connections that send nothing use nothing
// of it.
const firstBuffer = 2 << 10

// errNoMemory is returned while other bodies use the budget.
var errNoMemory = errors.New("the memory for bodies is taken")

// errLarge is returned for a body over MaxBody.
var errLarge = errors.New("the body is too large")

// smallBody is a size that is sufficient for nearly every payload, in bytes.
const smallBody = 256 << 10

// minMemory is the smallest budget with which one largest body can be copied to its last buffer,
// in bytes.
const minMemory = 128 << 20

// budget is the memory for all bodies. Small bodies have a budget of their own, so that large
// bodies of strangers cannot block GitHub's usual payloads.
type budget struct{ small, large *semaphore.Weighted }

func newBudget(memory int64) *budget {
	memory = max(memory, minMemory)
	return &budget{small: semaphore.NewWeighted(memory / 4), large: semaphore.NewWeighted(memory - memory/4)}
}

// room is the part of the budget that one request holds.
type room struct {
	budget  *budget
	metrics *metrics.Intake
	lane    *semaphore.Weighted
	held    int64
}

// buffer returns a larger buffer that begins with text, and releases the memory of text. It does
// not wait for memory: waiting while holding some could block others.
func (r *room) buffer(text []byte, size int) ([]byte, error) {
	lane := r.budget.small
	if size > smallBody {
		lane = r.budget.large
	}
	if !lane.TryAcquire(int64(size)) {
		return nil, errNoMemory
	}
	larger := make([]byte, len(text), size)
	copy(larger, text)
	r.release() // only now: during the copy both exist
	r.lane, r.held = lane, int64(size)
	r.metrics.Held(r.held)
	return larger, nil
}

// release returns the held memory to the budget; the body must not be used any more.
func (r *room) release() {
	if r.lane == nil {
		return
	}
	r.lane.Release(r.held)
	r.metrics.Held(-r.held)
	r.lane, r.held = nil, 0
}

// read reads a body of at most MaxBody bytes. Memory is allocated as the bytes arrive, not by
// Content-Length: a client that wants to use all of it has to send half as much.
func (r *room) read(body io.Reader) ([]byte, error) {
	text := make([]byte, 0, firstBuffer)
	var err error
	for err == nil {
		var n int
		n, err = body.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		switch {
		case len(text) > MaxBody:
			return nil, errLarge
		case err == io.EOF:
			return text, nil
		case err == nil && len(text) == cap(text):
			text, err = r.buffer(text, min(2*cap(text), MaxBody+1))
		}
	}
	return nil, err
}

// receive reads the body of a request within BodyTimeout.
func (h *handler) receive(w http.ResponseWriter, r *http.Request, in *room) ([]byte, *answer) {
	// The real clock, not Config.Now: the deadline is one of the connection.
	if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(h.config.BodyTimeout)); err != nil {
		return nil, unavailable("the connection takes no deadline", err)
	}
	body, err := in.read(r.Body)
	switch {
	case err == nil:
		return body, nil
	case errors.Is(err, errLarge):
		return nil, tooLarge()
	case errors.Is(err, errNoMemory):
		return nil, unavailable("too many bodies are being read", err)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, refuse(http.StatusRequestTimeout, "the body came too slowly")
	default:
		return nil, refuse(http.StatusBadRequest, "the body could not be read to its end")
	}
}

// refusedWait is how long a refused client may still send, so that it can receive the response.
const refusedWait = time.Second

// closeAfter makes the server close the connection after the response, so that it does not read the
// rest of a refused body.
func closeAfter(w http.ResponseWriter) {
	w.Header().Set("Connection", "close")
	// Without deadlines nothing was read either; see receive.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(refusedWait))
}
