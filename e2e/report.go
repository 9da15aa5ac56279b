package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	reports "github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/suite"
)

// report writes differences as they are found, and counts them.
type report struct {
	w io.Writer

	suites, requests, objects int
	// ours counts differences of preadmit from the server, drifts differences of the
	// server from its record, changed objects that preadmit prepares differently, and
	// failed suites that could not be replayed.
	ours, drifts, changed, failed int
	// chance counts differences from the record where the server chooses at random.
	chance int
	// differing counts suites for which a server of another version differs from the record.
	differing int
	// unknowns counts requests that preadmit does not know to be allowed or denied, by reason.
	unknowns map[string]int
	// skipped counts objects of trees that could not be sent, by reason.
	skipped map[string]int
}

func (r *report) count(s *suite.Suite) {
	r.suites++
	r.requests += len(s.Requests)
}

func (r *report) differences() int { return r.ours + r.drifts + r.changed + r.failed }

// unsent writes a suite or request that could not be sent.
func (r *report) unsent(name string, err error) {
	r.failed++
	fmt.Fprintf(r.w, "FAILED   %s: %v\n", name, err)
}

// skip counts an object of a tree that could not be sent.
func (r *report) skip(err error) {
	if r.skipped == nil {
		r.skipped = map[string]int{}
	}
	r.skipped[err.Error()]++
}

// unknown counts a request that preadmit does not know to be allowed or denied.
func (r *report) unknown(why string) {
	if r.unknowns == nil {
		r.unknowns = map[string]int{}
	}
	r.unknowns[why]++
}

// failures writes the differences of preadmit from the server.
func (r *report) failures(name string, result *reports.SuiteResult) {
	for _, f := range result.Failures {
		request := f.Request
		if request == "" {
			request = "policies"
		}
		for _, d := range f.Differences {
			r.ours++
			r.difference("PREADMIT", name+": "+request+": "+d.Field, "server", d.Expected, "preadmit", d.Actual)
		}
	}
}

// drift writes a difference of the server from its record.
func (r *report) drift(name string, d recordDifference) {
	r.drifts++
	request := d.request
	if request == "" {
		request = "policies"
	}
	r.difference("RECORD", name+": "+request+": "+d.field, "recorded", d.recorded, "server", d.now)
}

// difference writes one difference.
func (r *report) difference(what, where, a string, first any, b string, second any) {
	fmt.Fprintf(r.w, "%-8s %s\n    %s: %s\n    %s: %s\n", what, where, a, value(first), b, value(second))
}

func value(v any) string {
	if v == nil {
		return "nothing"
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSpace(text.String())
}

// summary writes the counts.
func (r *report) summary(source string, took time.Duration) {
	for _, reason := range slices.Sorted(maps.Keys(r.skipped)) {
		fmt.Fprintf(r.w, "SKIPPED  %d objects or suites: %s\n", r.skipped[reason], reason)
	}
	for _, why := range slices.Sorted(maps.Keys(r.unknowns)) {
		fmt.Fprintf(r.w, "UNKNOWN  %d requests: %s\n", r.unknowns[why], why)
	}
	if r.differing > 0 {
		fmt.Fprintf(r.w, "VERSION  %d suites are answered otherwise than by the version that they are recorded from\n", r.differing)
	}
	fmt.Fprintf(r.w, "%s: %d suites, %d requests, %d objects: %d differences of preadmit, %d of records (%d more by chance), %d of objects, %d suites not asked; %.0f s\n",
		source, r.suites, r.requests, r.objects, r.ours, r.drifts, r.chance, r.changed, r.failed, took.Seconds())
}

// object writes the differences in an object that policies see.
func (r *report) object(name string, differences []pathDifference) {
	r.changed++
	for _, d := range differences {
		r.difference("OBJECT", name+": "+d.path, "server", d.server, "preadmit", d.ours)
	}
}
