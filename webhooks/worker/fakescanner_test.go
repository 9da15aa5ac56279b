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

	"github.com/preadmit/preadmit/render/gittree"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/webhooks/jailed"
)

// fakeScanner is a scanner in this process. It knows one rule, that of the policy no-deny:
// when the base has this policy (without a base the head), an object of the head that has
// the key deny is denied. The jailed scanner runs in the tests of cmd/preadmit and e2e.
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
	if _, ok := inForce["ValidatingAdmissionPolicy/no-deny"]; ok {
		for _, key := range slices.Sorted(maps.Keys(head)) {
			o, before := head[key], base[key]
			if o.deny == 0 || o.text == before.text {
				continue // the change does not touch it
			}
			status := "new"
			if before.deny > 0 {
				status = "existing"
			}
			findings = append(findings, o.finding(status))
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
	progress("explain", 1, 1)
	return &jailed.Outcome{Report: verdict}, ctx.Err()
}

// brokenConfig is the key under which readTree has a configuration with a mistake.
const brokenConfig = ".preadmit.yaml"

// fakeObject is an object as the tests write them: a line each for kind, metadata and keys.
type fakeObject struct {
	path, kind, name, text string
	deny                   int // the line of the key deny, 0 without one
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
	o := fakeObject{path: path}
	add := func() {
		if o.kind != "" {
			to[o.kind+"/"+o.name] = o
		}
		o = fakeObject{path: path}
	}
	for i, line := range strings.Split(text, "\n") {
		switch {
		case line == "---":
			add()
			continue
		case strings.HasPrefix(line, "kind: "):
			o.kind = strings.TrimPrefix(line, "kind: ")
		case strings.HasPrefix(line, "metadata: {name: "):
			o.name = strings.FieldsFunc(strings.TrimPrefix(line, "metadata: {name: "), func(r rune) bool { return r == ',' || r == '}' })[0]
		case strings.HasPrefix(line, "  deny:"):
			o.deny = i + 1
		}
		o.text += line + "\n"
	}
	add()
}

func (o *fakeObject) finding(status string) map[string]any {
	return map[string]any{
		"fingerprint": fmt.Sprintf("%032x", o.path+o.name)[:32], "status": status,
		"action": "Deny", "actions": []string{"Deny"}, "cause": "validation", "policies": "inForce",
		"policy": "no-deny", "binding": "no-deny", "message": "the key deny is not for us", "reason": "Invalid", "operation": "CREATE",
		"object": map[string]any{"apiVersion": "v1", "kind": o.kind, "namespace": "shop", "name": o.name},
		"root":   "app",
		"location": map[string]any{
			"path": o.path, "startLine": o.deny, "startColumn": 9, "endLine": o.deny, "endColumn": 12,
			"field": "data.deny", "exact": true, "tree": "head",
		},
	}
}

// change names what was compared.
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
