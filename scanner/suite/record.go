package suite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode"

	"sigs.k8s.io/yaml"
)

// Recorder is recordedFrom of the files that Record makes.
const Recorder = "preadmit"

// Record is expected.yaml with the answers of a result, all of them in full: keys in
// the order of the alphabet, entries in the order of requests.yaml. Equal answers
// give equal bytes.
func (r *Result) Record() ([]byte, error) {
	data, err := YAML(&Expected{RecordedFrom: Recorder, PolicyErrors: r.PolicyErrors, Verdicts: r.Verdicts})
	if err != nil {
		return nil, fmt.Errorf("encode the verdicts: %w", err)
	}
	return data, nil
}

// YAML gives a value as YAML by way of JSON. It takes every character: messages of
// policies may have some that YAML wants escaped.
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

// Kept tells whether expected.yaml is a record that agrees with the result in
// everything: then there is no reason to replace it, and who gave it stays known.
func (r *Result) Kept() bool {
	if r.Recorded == "" || len(r.Failures) > 0 {
		return false
	}
	return len(r.compared) == len(r.Verdicts)
}

// AsRecorded is the result as it would be with the file that Record makes.
func (r *Result) AsRecorded() *Result {
	again := *r
	again.Recorded, again.Failures, again.compared = Recorder, []Failure{}, map[string]bool{}
	for i := range r.Verdicts {
		again.compared[r.Verdicts[i].Name] = true
	}
	return &again
}
