package report

import (
	"encoding/json"
	"fmt"
	"io"
)

// MaxSaved bounds the JSON of a report that Open takes, in bytes.
const MaxSaved = 256 << 20

// Read reads a report of scan in the wire format, strictly: an unknown or duplicate
// field, another apiVersion or kind, a value outside of an enumeration and
// anything after the document is an error. It holds all of rd in memory; a
// reader of a source that is not trusted is limited, as Open does.
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

// Saved is a report that was read back: either of scan or of lint.
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

// headOf is the kind and apiVersion of a document; empty when it is none.
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
