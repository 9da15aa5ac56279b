package suite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode"

	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/report"
)

// Recorder is the value of recordedFrom in files that Record makes.
const Recorder = "preadmit"

// Record returns an expected.yaml with the full verdicts of a result: keys in alphabetical order,
// entries in the order of requests.yaml. Equal verdicts give equal bytes.
func (r *Result) Record() ([]byte, error) {
	data, err := YAML(&Expected{RecordedFrom: Recorder, PolicyErrors: r.PolicyErrors, Verdicts: r.Verdicts})
	if err != nil {
		return nil, fmt.Errorf("encode the verdicts: %w", err)
	}
	return data, nil
}

// YAML encodes a value as YAML via JSON. It escapes characters that YAML does not allow, which
// messages of policies may have.
func YAML(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var escaped bytes.Buffer
	for _, r := range string(data) {
		if unicode.IsControl(r) || r == '\uFEFF' || r == '\uFFFE' || r == '\uFFFF' {
			fmt.Fprintf(&escaped, `\u%04x`, r)
			continue
		}
		escaped.WriteRune(r)
	}
	return yaml.JSONToYAML(escaped.Bytes())
}

// Kept reports whether expected.yaml is a record that agrees with the whole result, so that it need
// not be replaced and its recordedFrom stays.
func (r *Result) Kept() bool {
	if r.Recorded == "" || len(r.Failures) > 0 {
		return false
	}
	return len(r.compared) == len(r.Verdicts)
}

// AsRecorded returns the result that a run with the file of Record would have.
func (r *Result) AsRecorded() *Result {
	again := *r
	again.Recorded, again.Failures, again.compared = Recorder, []report.SuiteFailure{}, map[string]bool{}
	for i := range r.Verdicts {
		again.compared[r.Verdicts[i].Name] = true
	}
	return &again
}
