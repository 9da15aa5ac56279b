package suite

import (
	"fmt"

	"sigs.k8s.io/yaml"
)

// Recorder is recordedFrom of the files that Record makes.
const Recorder = "preadmit"

// Record is expected.yaml with the answers of a result, all of them in full: keys in
// the order of the alphabet, entries in the order of requests.yaml. Equal answers
// give equal bytes.
func (r *Result) Record() ([]byte, error) {
	data, err := yaml.Marshal(&Expected{RecordedFrom: Recorder, PolicyErrors: r.PolicyErrors, Verdicts: r.Verdicts})
	if err != nil {
		return nil, fmt.Errorf("encode the verdicts: %w", err)
	}
	return data, nil
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
