package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	reports "github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/suite"
)

// drift compares the server's current answers with its recorded ones. Where a server
// chooses at random, two records may differ. Then preadmit, which knows the possible
// choices, agrees with both.
func (c *conformance) drift(r *replayed, now, recorded *reports.SuiteResult) error {
	if r.Expected == nil {
		if !c.update || r.generated {
			return nil
		}
		return writeYAML(filepath.Join(r.Dir, suite.ExpectedFile), r.record.Expected)
	}
	if r.Expected.RecordedFrom == "" || r.Expected.RecordedFrom == suite.Recorder {
		// Not recorded from a server: it only has to agree with preadmit, which agrees with the server.
		c.report.failures(r.name+" (its expected.yaml)", recorded)
		return nil
	}
	differences, err := recordDifferences(r.Expected, r.record.Expected)
	if err != nil {
		return err
	}
	changed := c.version != "" && len(r.Expected.Verdicts) != len(r.record.Expected.Verdicts) // a kind that one of them does not serve
	for _, d := range differences {
		if d.request != "" && now.Failure(d.request) == nil && recorded.Failure(d.request) == nil {
			c.report.chance++
			continue
		}
		changed = true
		if c.version == "" {
			c.report.drift(r.name, d)
		}
	}
	if c.version != "" {
		return c.keep(r, changed)
	}
	if !changed || !c.update {
		return nil
	}
	return writeYAML(filepath.Join(r.Dir, suite.ExpectedFile), r.record.Expected)
}

// keep writes the record of a server of another version if it differs from that of the suite.
func (c *conformance) keep(r *replayed, differs bool) error {
	if differs {
		c.report.differing++
	}
	if !c.update || c.records == "" {
		return nil
	}
	dir := filepath.Join(c.records, filepath.Base(r.Dir))
	if !differs {
		return os.RemoveAll(dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("keep the record of %s: %w", r.name, err)
	}
	return writeYAML(filepath.Join(dir, suite.ExpectedFile), r.record.Expected)
}

// recordDifference is a field that differs between two records.
type recordDifference struct {
	request, field string // request is empty for policyErrors
	recorded, now  any
}

// recordDifferences compares two records by meaning.
func recordDifferences(recorded, now *suite.Expected) ([]recordDifference, error) {
	var all []recordDifference
	if !reflect.DeepEqual(texts(recorded.PolicyErrors), texts(now.PolicyErrors)) {
		all = append(all, recordDifference{field: "policyErrors", recorded: texts(recorded.PolicyErrors), now: texts(now.PolicyErrors)})
	}
	before := map[string]*suite.Verdict{}
	for i := range recorded.Verdicts {
		before[recorded.Verdicts[i].Name] = &recorded.Verdicts[i]
	}
	for i := range now.Verdicts {
		v := &now.Verdicts[i]
		differences, err := verdictDifferences(before[v.Name], v)
		if err != nil {
			return nil, err
		}
		all = append(all, differences...)
	}
	return all, nil
}

// verdictDifferences compares two verdicts by their fields in JSON.
func verdictDifferences(recorded, now *suite.Verdict) ([]recordDifference, error) {
	if recorded == nil {
		return []recordDifference{{request: now.Name, field: "the verdict", now: now.Allowed}}, nil
	}
	a, err := fields(recorded)
	if err != nil {
		return nil, err
	}
	b, err := fields(now)
	if err != nil {
		return nil, err
	}
	names := maps.Clone(a)
	maps.Copy(names, b)
	var all []recordDifference
	for _, field := range slices.Sorted(maps.Keys(names)) {
		if !reflect.DeepEqual(a[field], b[field]) {
			all = append(all, recordDifference{request: now.Name, field: field, recorded: a[field], now: b[field]})
		}
	}
	return all, nil
}

func fields(v *suite.Verdict) (map[string]any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode the verdict on %s: %w", v.Name, err)
	}
	var all map[string]any
	return all, json.Unmarshal(data, &all)
}

func texts(errs []suite.PolicyError) []string {
	var all []string
	for _, e := range errs {
		all = append(all, fmt.Sprintf("%s %s: %s", e.Kind, e.Name, e.Message))
	}
	return all
}
