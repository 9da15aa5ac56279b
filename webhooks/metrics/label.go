package metrics

import "sync"

// other is the label of all values without a label of their own.
const other = "other"

// label limits the values of a label. Each value is a time series that is kept as long as the
// process lives, so arbitrary values from strangers must not become one.
type label struct {
	// known are the accepted values; nil: the first most values are accepted.
	known map[string]bool
	most  int
	mutex sync.Mutex
	seen  map[string]bool
}

// oneOf returns a label with fixed values.
func oneOf(values ...string) *label {
	l := &label{known: map[string]bool{}}
	for _, v := range values {
		l.known[v] = true
	}
	return l
}

// first returns a label that accepts the first most values; later ones are counted as other.
func first(most int) *label { return &label{most: most, seen: map[string]bool{}} }

// value returns v, or other.
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

// forget frees the place of a value.
func (l *label) forget(v string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	delete(l.seen, v)
}
