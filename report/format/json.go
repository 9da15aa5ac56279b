package format

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"

	"github.com/preadmit/preadmit/report"
)

// writeJSON writes the wire format: indented, keys in the order of the Go
// structs, empty lists as [], a newline at the end.
func writeJSON(w *bufio.Writer, r *report.Report, _ Options) error {
	return EncodeJSON(w, r.Normalized())
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
