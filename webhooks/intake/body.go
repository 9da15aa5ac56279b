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

// MaxBody is the largest payload that GitHub sends, in bytes: 25 MB, as "Webhook events
// and payloads" of GitHub's documentation says. Larger ones it does not send at all.
const MaxBody = 25 << 20

// firstBuffer is what a body takes to begin with, in bytes. It is no more than what the
// connection itself costs, and not of the budget: connections that send nothing take
// nothing from those that do.
const firstBuffer = 2 << 10

// errNoMemory is returned while others hold the budget.
var errNoMemory = errors.New("the memory for bodies is taken")

// errLarge is returned for a body over MaxBody.
var errLarge = errors.New("the body is too large")

// smallBody is what nearly every payload fits in, in bytes.
const smallBody = 256 << 10

// minMemory lets one largest body be moved to its last buffer, in bytes.
const minMemory = 128 << 20

// budget is the memory for all bodies. Small bodies have a part of their own, so that
// strangers who send large ones keep none of GitHub's usual payloads out.
type budget struct{ small, large *semaphore.Weighted }

func newBudget(memory int64) *budget {
	memory = max(memory, minMemory)
	return &budget{small: semaphore.NewWeighted(memory / 4), large: semaphore.NewWeighted(memory - memory/4)}
}

// room is one request's part of the budget.
type room struct {
	budget  *budget
	metrics *metrics.Intake
	lane    *semaphore.Weighted
	held    int64
}

// buffer makes room for a larger buffer that begins with text, and returns the room of
// text. It does not wait: waiting while holding memory would keep others waiting.
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
	r.release() // only now: while it was copied, both were there
	r.lane, r.held = lane, int64(size)
	r.metrics.Held(r.held)
	return larger, nil
}

// release returns what is held; the body must not be used any more.
func (r *room) release() {
	if r.lane == nil {
		return
	}
	r.lane.Release(r.held)
	r.metrics.Held(-r.held)
	r.lane, r.held = nil, 0
}

// read reads a body of at most MaxBody bytes. Memory is taken as the bytes arrive, not as
// Content-Length promises: a client that would take all of it must send half as much.
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

// receive reads the body of a request within the time for it.
func (h *handler) receive(w http.ResponseWriter, r *http.Request, in *room) ([]byte, *answer) {
	// The real clock, not Config.Now: the deadline is the connection's.
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

// lastWords is how long a refused client may still send, so as to receive the answer.
const lastWords = time.Second

// hangUp has the connection closed after the answer: the rest of a body that is refused
// is not worth reading.
func hangUp(w http.ResponseWriter) {
	w.Header().Set("Connection", "close")
	// Where there are no deadlines nothing was read either; see receive.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(lastWords))
}
