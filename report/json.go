package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	kjson "sigs.k8s.io/json"

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

// Read reads a report in the wire format, strictly: an unknown or duplicate
// field, another apiVersion or kind, a value outside of an enumeration and
// anything after the document is an error. It holds all of rd in memory; who
// reads from someone they do not trust limits rd.
func Read(rd io.Reader) (*scanner.Report, error) {
	data, err := io.ReadAll(rd)
	if err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	var head struct{ APIVersion, Kind string }
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	if head.APIVersion != scanner.APIVersion || head.Kind != scanner.Kind {
		return nil, fmt.Errorf("read report: it is %q of %q, want %q of %q",
			head.Kind, head.APIVersion, scanner.Kind, scanner.APIVersion)
	}
	var r scanner.Report
	strict, err := kjson.UnmarshalStrict(data, &r)
	if err == nil {
		err = errors.Join(strict...)
	}
	if err == nil {
		err = check(&r)
	}
	if err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	return normalized(&r), nil
}
