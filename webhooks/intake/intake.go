package intake

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/preadmit/preadmit/webhooks/metrics"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// Queue stores jobs: a queue.Queue.
type Queue interface {
	// Seen reports whether a delivery was processed before.
	Seen(ctx context.Context, guid string) (bool, error)
	// Enqueue stores a job durably; false means that the delivery's job exists already.
	Enqueue(ctx context.Context, job queue.Job) (queue.Job, bool, error)
	// Remember records durably that a delivery was processed.
	Remember(ctx context.Context, guid, event string) error
}

// Config is the configuration of the handler.
type Config struct {
	Queue Queue
	// Secrets returns the secrets that deliveries may currently be signed with: the current one,
	// and for a while after a change the previous one. Empty ones are ignored.
	Secrets func() [][]byte
	// AppID returns the ID of our App, which distinguishes re-run requests for our checks from
	// those for other Apps' checks.
	AppID func() int64
	// Memory is the memory for the bodies of all requests together, in bytes: 256 MiB when
	// 0, 128 MiB at least.
	Memory int64
	// BodyTimeout is how long a body may take to arrive: 8 s when 0, since GitHub waits 10 s
	// for the response.
	BodyTimeout time.Duration
	// StoreTimeout is how long the store may take: 8 s when 0.
	StoreTimeout time.Duration
	// Log receives refusals and failures; nil discards them.
	Log *slog.Logger
	// Metrics counts deliveries; it may be nil.
	Metrics *metrics.Intake
	// Now returns the current time; time.Now when nil.
	Now func() time.Time
}

// handler handles deliveries.
type handler struct {
	config Config
	budget *budget
}

// New returns the handler of POST /webhooks/github. The ResponseWriter must support read
// deadlines, as net/http's does and wrappers with an Unwrap method do.
func New(c Config) http.Handler {
	if c.Memory == 0 {
		c.Memory = 256 << 20
	}
	if c.BodyTimeout == 0 {
		c.BodyTimeout = 8 * time.Second
	}
	if c.StoreTimeout == 0 {
		c.StoreTimeout = 8 * time.Second
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &handler{config: c, budget: newBudget(c.Memory)}
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := h.config.Now()
	d, a := readHeaders(r)
	if a == nil {
		a = h.take(w, r, d)
	}
	if a.outcome == Refused {
		closeAfter(w)
	}
	a.write(w)
	h.record(d, a, h.config.Now().Sub(began))
}

// take reads a delivery and stores its job, even if the client has disconnected by then: what is
// stored need not be sent again.
func (h *handler) take(w http.ResponseWriter, r *http.Request, d *delivery) *answer {
	job, a := h.read(w, r, d)
	if a != nil {
		return a
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), h.config.StoreTimeout)
	defer cancel()
	return h.store(ctx, d, *job)
}

// read reads and checks the body, and returns the job that it requests. The body's memory is
// released on return.
func (h *handler) read(w http.ResponseWriter, r *http.Request, d *delivery) (*queue.Job, *answer) {
	secrets := usable(h.config.Secrets())
	if len(secrets) == 0 {
		return nil, unavailable("there is no webhook secret yet", nil)
	}
	in := &room{budget: h.budget, metrics: h.config.Metrics}
	defer in.release()
	body, a := h.receive(w, r, in)
	if a != nil {
		return nil, a
	}
	if !signed(body, d.sum, secrets) {
		return nil, refuse(http.StatusUnauthorized, "the signature is not of this webhook's secret")
	}
	read := readerOf(d.event, h.config.AppID())
	if read == nil {
		return nil, ignore("this event is not listened to")
	}
	requested, err := read(body)
	switch {
	case err != nil:
		return nil, refuse(http.StatusBadRequest, "the payload is no JSON")
	case requested.job == nil:
		return nil, ignore(requested.why)
	}
	return requested.job, nil
}

// store stores a job and remembers its delivery, in this order; see the package's
// documentation.
func (h *handler) store(ctx context.Context, d *delivery, job queue.Job) *answer {
	seen, err := h.config.Queue.Seen(ctx, d.guid)
	if err != nil {
		return unavailable("the queue does not answer", err)
	}
	if seen {
		return duplicate()
	}
	job.Delivery = d.guid
	_, isNew, err := h.config.Queue.Enqueue(ctx, job)
	if err != nil {
		return unavailable("the queue does not take the job", err)
	}
	if err := h.config.Queue.Remember(ctx, d.guid, d.event); err != nil {
		return unavailable("the queue does not note the delivery", err)
	}
	if !isNew {
		return duplicate()
	}
	return &answer{status: http.StatusAccepted, outcome: Accepted, why: "queued for " + job.Reason}
}

// record counts and logs a delivery. If the headers are invalid, d is nil, and nothing of the
// request is logged.
func (h *handler) record(d *delivery, a *answer, took time.Duration) {
	if d == nil {
		d = &delivery{}
	}
	h.config.Metrics.Received(d.event, a.outcome, took)
	attrs := []slog.Attr{
		slog.String("event", d.event), slog.String("delivery", d.guid),
		slog.String("outcome", a.outcome), slog.Int("status", a.status),
		slog.String("why", a.why), slog.Duration("took", took),
	}
	if a.err != nil {
		attrs = append(attrs, slog.String("error", a.err.Error()))
	}
	h.config.Log.LogAttrs(context.Background(), a.level(), "delivery", attrs...)
}
