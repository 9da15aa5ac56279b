package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"
)

// auditTimeout is how long to wait for the audit event of a request after its response.
const auditTimeout = 10 * time.Second

// auditLog parses the audit events that a server writes to its standard output, one per
// line, and stores their annotations.
type auditLog struct {
	mu      sync.Mutex
	rest    []byte // the incomplete last line
	events  map[string]map[string]string
	changed chan struct{} // closed at the next event
}

func newAuditLog() *auditLog {
	return &auditLog{events: map[string]map[string]string{}, changed: make(chan struct{})}
}

// Write implements io.Writer.
func (l *auditLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, b...)
	for {
		line, rest, whole := bytes.Cut(l.rest, []byte("\n"))
		if !whole {
			return len(b), nil
		}
		l.add(line)
		l.rest = rest
	}
}

func (l *auditLog) add(line []byte) {
	var event struct {
		Kind, AuditID, Stage string
		Annotations          map[string]string
	}
	if json.Unmarshal(line, &event) != nil || event.Kind != "Event" || event.Stage != "ResponseComplete" {
		return
	}
	l.events[event.AuditID] = event.Annotations
	close(l.changed)
	l.changed = make(chan struct{})
}

// annotations waits for the event with an audit ID, removes it and returns its annotations.
func (l *auditLog) annotations(ctx context.Context, id string) (map[string]string, error) {
	deadline := time.After(auditTimeout)
	for {
		l.mu.Lock()
		annotations, ok := l.events[id]
		delete(l.events, id)
		changed := l.changed
		l.mu.Unlock()
		if ok {
			return annotations, nil
		}
		select {
		case <-changed:
		case <-deadline:
			return nil, errors.New("the server wrote none")
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
