package fetch

import (
	"cmp"
	"fmt"
	"time"
)

// Limits limit the cost of fetching. A zero field takes its default.
type Limits struct {
	// Time is the timeout for one artifact. Default 5 minutes.
	Time time.Duration
	// Stall is how long a server may send nothing. Default 30 seconds.
	Stall time.Duration
	// Redirects is the maximum number of redirects of a request. Default 5.
	Redirects int
	// Requests is the maximum number of requests in total. Default 20,000.
	Requests int64
	// Answer is the maximum size of a response, in bytes. Default 512 MiB.
	Answer int64
	// Content is the maximum size of a file, chart or layer, in bytes. Default 128 MiB.
	Content int64
	// Index is the maximum size of an index of charts, in bytes. Default 64 MiB.
	Index int64
	// Tags is how many tags a repository may have whose tags are listed. Default 20,000.
	Tags int
	// Total is the maximum size of all artifacts together, in bytes, those that are refused after they were stored
	// included. Default 4 GiB.
	Total int64
}

func (l Limits) withDefaults() Limits {
	l.Time = cmp.Or(l.Time, 5*time.Minute)
	l.Stall = cmp.Or(l.Stall, 30*time.Second)
	l.Redirects = cmp.Or(l.Redirects, 5)
	l.Requests = cmp.Or(l.Requests, 20_000)
	l.Answer = cmp.Or(l.Answer, 512<<20)
	l.Content = cmp.Or(l.Content, 128<<20)
	l.Index = cmp.Or(l.Index, 64<<20)
	l.Tags = cmp.Or(l.Tags, 20_000)
	l.Total = cmp.Or(l.Total, 4<<30)
	return l
}

func hostField(i int, name string) string { return fmt.Sprintf("hosts[%d].%s", i, name) }
