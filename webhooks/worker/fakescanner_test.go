package worker

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render/tree/gittree"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/webhooks/jailed"
)

// fakeScanner is a scanner in this process. It has one rule: if the base (or the head, without a
// base) has a policy named no-KEY, ConfigMaps with this key are denied. The
// real scanner is used in the tests of cmd/preadmit and e2e.
type fakeScanner struct{}

func (fakeScanner) Scan(ctx context.Context, r jailed.Request, progress jailed.Progress) (*jailed.Outcome, error) {
	progress("discover", 0, 1)
	head, err := readTree(r.Repository, r.Head)
	if err != nil {
		return nil, err
	}
	base, inForce := map[string]fakeObject{}, head
	if r.Base != "" {
		if base, err = readTree(r.Repository, r.Base); err != nil {
			return nil, err
		}
		inForce = base
	}
	if _, broken := inForce[brokenConfig]; broken {
		return nil, &jailed.InputError{Message: "configuration of the base:\n.preadmit.yaml:3: failOn"}
	}
	document := map[string]any{
		"apiVersion": "preadmit.dev/v1alpha1", "kind": "ScanReport",
		"tool":          map[string]any{"name": "preadmit", "version": r.Version, "kubernetes": "v1.36.3"},
		"change":        change(&r),
		"indeterminate": []any{}, "diagnostics": []any{},
	}
	findings, counts := []any{}, map[string]int{}
	for _, policy := range slices.Sorted(maps.Keys(inForce)) {
		key, ok := strings.CutPrefix(policy, "ValidatingAdmissionPolicy/no-")
		for _, name := range slices.Sorted(maps.Keys(head)) {
			o, before := head[name], base[name]
			if !ok || o.keys[key] == 0 || o.text == before.text {
				continue // the change does not touch it
			}
			status := "new"
			if before.keys[key] > 0 {
				status = "existing"
			}
			findings = append(findings, o.finding(key, status))
			counts[status]++
		}
	}
	document["findings"] = findings
	document["summary"] = summary(len(head), counts)
	wire, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	verdict, err := report.Read(bytes.NewReader(wire))
	if err != nil {
		return nil, fmt.Errorf("the fake scanner wrote no report: %w", err)
	}
	progress("prove", 1, 1)
	return &jailed.Outcome{Report: verdict}, ctx.Err()
}

// brokenConfig is the key in readTree's result for a configuration with a mistake.
const brokenConfig = ".preadmit.yaml"

// fakeObject is an object in the form of the tests: one line each for kind, metadata and keys.
type fakeObject struct {
	path, kind, name, text string
	keys                   map[string]int // their lines
}

// readTree returns the objects of a commit by kind and name.
func readTree(repository, commit string) (map[string]fakeObject, error) {
	opened, err := gittree.Open(repository)
	if err != nil {
		return nil, err
	}
	c, err := opened.Commit(commit)
	if err != nil {
		return nil, err
	}
	objects := map[string]fakeObject{}
	return objects, fs.WalkDir(c.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(c.FS(), path)
		if path == brokenConfig {
			objects[brokenConfig] = fakeObject{}
		}
		readObjects(path, string(text), objects)
		return err
	})
}

// readObjects adds the objects of a file.
func readObjects(path, text string, to map[string]fakeObject) {
	line := 0
	for _, document := range strings.Split(text, "---\n") {
		o := fakeObject{path: path, text: document, keys: map[string]int{}}
		for content := range strings.Lines(document) {
			line++
			o.read(strings.TrimSpace(content), line)
		}
		line++ // the separator
		if o.kind != "" {
			to[o.kind+"/"+o.name] = o
		}
	}
}

// read parses a line of the object.
func (o *fakeObject) read(content string, line int) {
	key, value, _ := strings.Cut(content, ":")
	switch {
	case key == "kind" && o.kind == "":
		o.kind = strings.TrimSpace(value)
	case key == "metadata":
		name, _, _ := strings.Cut(strings.TrimPrefix(value, " {name: "), "}")
		o.name, _, _ = strings.Cut(name, ",")
	case o.kind == "ConfigMap":
		o.keys[key] = line
	}
}

func (o *fakeObject) finding(key, status string) map[string]any {
	return map[string]any{
		"fingerprint": fmt.Sprintf("%032x", o.path+o.name)[:32], "status": status,
		"action": "Deny", "actions": []string{"Deny"}, "cause": "validation", "policies": "inForce",
		"policy": "no-" + key, "binding": "no-" + key, "message": "the key " + key + " is not for us", "reason": "Invalid", "operation": "CREATE",
		"object": map[string]any{"apiVersion": "v1", "kind": o.kind, "namespace": "shop", "name": o.name},
		"root":   "app",
		"location": map[string]any{
			"path": o.path, "startLine": o.keys[key], "startColumn": 9, "endLine": o.keys[key], "endColumn": 12,
			"field": "data." + key, "exact": true, "tree": "head",
		},
	}
}

// change returns the Change of the report.
func change(r *jailed.Request) map[string]any {
	c := map[string]any{"head": map[string]any{"name": cmp.Or(r.HeadName, r.Head), "commit": r.Head}}
	if r.Base != "" {
		c["base"] = map[string]any{"name": cmp.Or(r.BaseName, r.Base), "commit": r.Base}
	}
	return c
}

func summary(requests int, denied map[string]int) map[string]any {
	findings := map[string]any{}
	if len(denied) > 0 {
		findings["Deny"] = denied
	}
	return map[string]any{
		"requests": requests, "evaluations": requests, "findings": findings, "policies": 1,
		"roots":     map[string]int{"rendered": 2, "failed": 0, "failedBefore": 0, "indeterminate": 0, "lost": 0, "untouched": 0},
		"durations": map[string]int{"discover": 0, "render": 0, "judge": 0, "locate": 0, "total": 0},
	}
}
