package metrics

import "sync"

// other is the label of whatever has no label of its own.
const other = "other"

// label bounds the values of a label. Each one is a time series that is kept for as long
// as the process lives, so what strangers can name must not become one.
type label struct {
	// known are values that always count; nil: the first most values do.
	known map[string]bool
	most  int
	mutex sync.Mutex
	seen  map[string]bool
}

// oneOf is a label with fixed values.
func oneOf(values ...string) *label {
	l := &label{known: map[string]bool{}}
	for _, v := range values {
		l.known[v] = true
	}
	return l
}

// first is a label whose values are not listed here; from the most'th on, new ones are
// counted as other.
func first(most int) *label { return &label{most: most, seen: map[string]bool{}} }

// value is v, or other.
func (l *label) value(v string) string {
	if l.known != nil {
		if l.known[v] {
			return v
		}
		return other
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	switch {
	case l.seen[v]:
		return v
	case v == "" || len(v) > 64 || len(l.seen) >= l.most:
		return other
	}
	l.seen[v] = true
	return v
}

// forget makes room for another value.
func (l *label) forget(v string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	delete(l.seen, v)
}
