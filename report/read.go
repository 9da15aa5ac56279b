package report

import (
	"encoding/json"
	"fmt"
	"io"
)

// MaxSaved bounds the JSON that Open reads, in bytes.
const MaxSaved = 256 << 20

// Read reads a report of scan in the wire format, strictly: an unknown or duplicate
// field, another apiVersion or kind, a value outside of an enumeration and anything
// after the document is an error. It reads all of rd into memory; limit a reader that
// is not trusted, as Open does.
func Read(rd io.Reader) (*Report, error) {
	data, err := io.ReadAll(rd)
	if err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	r, err := decodeScan(data)
	if err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	return r, nil
}

// Saved is a report that was read: either of scan or of lint. The other field is nil.
type Saved struct {
	Scan *Report
	Lint *LintReport
}

// Open reads a report of either kind, as strictly as Read, of at most MaxSaved bytes.
func Open(rd io.Reader) (*Saved, error) {
	data, err := io.ReadAll(io.LimitReader(rd, MaxSaved+1))
	if err == nil && len(data) > MaxSaved {
		err = fmt.Errorf("it has more than %d MiB", MaxSaved>>20)
	}
	if err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	s := &Saved{}
	if kind, _ := headOf(data); kind == LintKind {
		s.Lint, err = decodeLint(data)
	} else {
		s.Scan, err = decodeScan(data)
	}
	if err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	return s, nil
}

// headOf returns the kind and apiVersion of a JSON document, empty if it cannot be decoded.
func headOf(data []byte) (kind, apiVersion string) {
	var head struct{ APIVersion, Kind string }
	if json.Unmarshal(data, &head) != nil {
		return "", ""
	}
	return head.Kind, head.APIVersion
}

func decodeScan(data []byte) (*Report, error) {
	var r Report
	if err := decode(data, Kind, &r); err != nil {
		return nil, err
	}
	if err := check(&r); err != nil {
		return nil, err
	}
	return r.Normalized(), nil
}

func decodeLint(data []byte) (*LintReport, error) {
	var r LintReport
	if err := decode(data, LintKind, &r); err != nil {
		return nil, err
	}
	return &r, checkLint(&r)
}

// decode decodes a document of a kind strictly.
func decode(data []byte, kind string, into any) error {
	if err := json.Unmarshal(data, &struct{}{}); err != nil {
		return err
	}
	if k, version := headOf(data); version != APIVersion || k != kind {
		return fmt.Errorf("it is %q of %q, want %q of %q", k, version, kind, APIVersion)
	}
	return unmarshalStrict(data, into)
}
