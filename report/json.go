package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"slices"

	"github.com/preadmit/preadmit/scanner"
)

// writeJSON writes the wire format: indented, keys in the order of the Go
// structs, empty lists as [], a newline at the end.
func writeJSON(w *bufio.Writer, r *scanner.Report, _ Options) error {
	return EncodeJSON(w, normalized(r))
}

// EncodeJSON is how all JSON leaves the program: HTML is left alone, what could
// harm a terminal is not.
func EncodeJSON(w io.Writer, v any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(guardJSON(buf.Bytes()))
	return err
}

// normalized gives the report with empty lists and maps in place of nil ones.
func normalized(r *scanner.Report) *scanner.Report {
	c := *r
	c.Findings = notNil(c.Findings)
	c.Indeterminate = notNil(c.Indeterminate)
	c.Diagnostics = notNil(c.Diagnostics)
	if c.Summary.Findings == nil {
		c.Summary.Findings = map[scanner.Action]map[scanner.Status]int{}
	}
	if c.Changes != nil {
		c.Changes = &scanner.Changes{Objects: notNil(c.Changes.Objects), LeftOut: c.Changes.LeftOut}
	}
	copied := false
	for i := range c.Findings {
		if c.Findings[i].Actions != nil {
			continue
		}
		if !copied {
			c.Findings, copied = slices.Clone(c.Findings), true
		}
		c.Findings[i].Actions = []scanner.Action{}
	}
	return &c
}

func notNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
