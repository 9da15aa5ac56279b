package githubtest

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Delivery is an attempt to deliver an event to an App.
type Delivery struct {
	ID int64
	// GUID is the same for all attempts.
	GUID, Event, Action      string
	Installation, Repository int64
	At                       time.Time
	// Status is that of the response, 0 before there is one.
	Status     int
	Redelivery bool
	Payload    []byte
}

// dispatcher sends deliveries one after the other, in the order of the events.
type dispatcher struct {
	server *Server
	client *http.Client
	done   chan struct{}

	mu     sync.Mutex
	change *sync.Cond
	queue  []posted
	sent   int // number sent, of taken
	taken  int
	closed bool
}

// posted is a delivery to be sent.
type posted struct {
	app      *App
	delivery *Delivery
}

func newDispatcher(s *Server) *dispatcher {
	d := &dispatcher{server: s, client: &http.Client{Transport: &http.Transport{}}, done: make(chan struct{})}
	d.change = sync.NewCond(&d.mu)
	go d.run()
	return d
}

func (d *dispatcher) close() {
	d.mu.Lock()
	d.closed = true
	d.change.Broadcast()
	d.mu.Unlock()
	<-d.done
	d.client.CloseIdleConnections()
}

func (d *dispatcher) run() {
	defer close(d.done)
	for {
		d.mu.Lock()
		for len(d.queue) == 0 && !d.closed {
			d.change.Wait()
		}
		if d.closed {
			d.mu.Unlock()
			return
		}
		next := d.queue[0]
		d.queue = d.queue[1:]
		d.mu.Unlock()
		d.send(next)
		d.mu.Lock()
		d.sent++
		d.change.Broadcast()
		d.mu.Unlock()
	}
}

func (d *dispatcher) add(p posted) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queue = append(d.queue, p)
	d.taken++
	d.change.Broadcast()
}

// wait returns when everything that was added before has been sent.
func (d *dispatcher) wait() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for upTo := d.taken; d.sent < upTo && !d.closed; {
		d.change.Wait()
	}
}

// Settle waits until all events were delivered, or have failed.
func (s *Server) Settle() { s.hooks.wait() }

// act runs do, and waits until the Apps have received its events.
func (s *Server) act(do func() error) error {
	s.mu.Lock()
	err := do()
	s.mu.Unlock()
	s.hooks.wait()
	return err
}

// send sends a delivery, unless it is to be lost, and records the status.
func (d *dispatcher) send(p posted) {
	s := d.server
	s.mu.Lock()
	url, secret, timeout, status := p.app.opts.WebhookURL, p.app.opts.WebhookSecret, s.config.HookTimeout, 0
	if p.app.lose > 0 {
		p.app.lose--
		status = p.app.loseStatus
	}
	delivery := *p.delivery
	s.mu.Unlock()
	if status == 0 {
		status = d.post(url, secret, timeout, p.app.ID, &delivery)
	}
	s.locked(func() { p.delivery.Status = status })
}

// post sends a delivery once. Like GitHub it returns 502 for a server that does not respond, and
// 504 for one that takes too long.
func (d *dispatcher) post(url, secret string, timeout time.Duration, app int64, delivery *Delivery) int {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(delivery.Payload))
	if err != nil {
		return http.StatusBadGateway
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(delivery.Payload)
	for name, value := range map[string]string{
		"Accept": "*/*", "Content-Type": "application/json", "User-Agent": "GitHub-Hookshot/githubtest",
		"X-GitHub-Delivery": delivery.GUID, "X-GitHub-Event": delivery.Event,
		"X-GitHub-Hook-ID": "1", "X-GitHub-Hook-Installation-Target-ID": strconv.FormatInt(app, 10),
		"X-GitHub-Hook-Installation-Target-Type": "integration",
		"X-Hub-Signature-256":                    "sha256=" + hex.EncodeToString(mac.Sum(nil)),
	} {
		req.Header.Set(name, value)
	}
	resp, err := d.client.Do(req)
	switch {
	case ctx.Err() != nil:
		return http.StatusGatewayTimeout
	case err != nil:
		return http.StatusBadGateway
	}
	_ = resp.Body.Close() // the body is not needed
	return resp.StatusCode
}

// Deliveries returns copies of all attempts to deliver events to the App, in order.
func (a *App) Deliveries() []Delivery {
	a.server.mu.Lock()
	defer a.server.mu.Unlock()
	var out []Delivery
	for _, d := range a.deliveries {
		out = append(out, *d)
	}
	return out
}

// LoseDeliveries makes the next n deliveries fail with a status, without being sent.
func (a *App) LoseDeliveries(n, status int) {
	a.server.locked(func() { a.lose, a.loseStatus = n, status })
}

// Send delivers any event to the App, waits for the response, and returns the GUID.
func (a *App) Send(event string, payload any) (guid string, err error) {
	text, err := json.Marshal(payload)
	if err != nil {
		return "", fmt.Errorf("send %s: %w", event, err)
	}
	err = a.server.act(func() error {
		guid = a.deliver(&Delivery{Event: event, Payload: text}).GUID
		return nil
	})
	return guid, err
}

// Redeliver sends a delivery again, like the button on GitHub's pages.
func (a *App) Redeliver(id int64) error {
	return a.server.act(func() error { return a.again(id) })
}

func (a *App) again(id int64) error {
	i := slices.IndexFunc(a.deliveries, func(d *Delivery) bool { return d.ID == id })
	if i < 0 {
		return fmt.Errorf("deliver %d again: there is no such delivery", id)
	}
	d := *a.deliveries[i]
	d.Redelivery, d.Status = true, 0
	a.deliver(&d)
	return nil
}

// deliver records a delivery and queues it. It sets the GUID if there is none.
func (a *App) deliver(d *Delivery) *Delivery {
	if d.GUID == "" {
		a.clock++
		d.GUID = fmt.Sprintf("%08x-0000-11ef-8000-%012x", a.clock, a.ID)
	}
	d.ID, d.At = a.server.name(), a.server.config.Now()
	a.deliveries = append(a.deliveries, d)
	a.server.hooks.add(posted{a, d})
	return d
}

// redeliver handles the request for another attempt, which follows later.
func (s *Server) redeliver(q *query) answer {
	if q.who.app.again(q.number("delivery_id")) != nil {
		return notFound()
	}
	return answer{status: http.StatusAccepted, body: map[string]any{}}
}

// listDeliveries returns the attempts, the newest first, in pages with cursors.
func (s *Server) listDeliveries(q *query) answer {
	query := q.r.URL.Query()
	size := s.config.PageSize
	if n, err := strconv.Atoi(query.Get("per_page")); err == nil {
		size = min(size, n)
	}
	cursor, err := strconv.ParseInt(query.Get("cursor"), 10, 64)
	if err != nil {
		cursor = 1 << 62
	}
	list, header := []any{}, http.Header{}
	for _, d := range slices.Backward(q.who.app.deliveries) {
		if d.ID >= cursor || d.Status == 0 {
			continue
		}
		if len(list) == size {
			header.Set("Link", s.next(q.r, "cursor", strconv.FormatInt(last(list), 10)))
			break
		}
		list = append(list, d.body())
	}
	return answer{status: http.StatusOK, body: list, header: header}
}

func last(list []any) int64 { return list[len(list)-1].(map[string]any)["id"].(int64) }

func (d *Delivery) body() map[string]any {
	number := func(n int64) any {
		if n == 0 {
			return nil
		}
		return n
	}
	return map[string]any{
		"id": d.ID, "guid": d.GUID, "delivered_at": d.At.UTC().Format(time.RFC3339Nano), "redelivery": d.Redelivery, "duration": 0.1,
		"status": http.StatusText(d.Status), "status_code": d.Status, "event": d.Event, "action": nullable(d.Action),
		"installation_id": number(d.Installation), "repository_id": number(d.Repository), "throttled_at": nil,
	}
}
