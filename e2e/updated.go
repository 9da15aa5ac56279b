package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/e2e/live"
	"github.com/preadmit/preadmit/e2e/updates"
	reports "github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/admission/apply"
)

// updates compares generated updates: it applies each to the server as each applier does, and
// scans it.
func (c *conformance) updates(ctx context.Context) (err error) {
	if c.generate == 0 {
		return nil
	}
	contents, err := updates.State()
	if err != nil {
		return err
	}
	var state []*admission.Object
	for _, content := range contents {
		state = append(state, admission.NewObject(content))
	}
	revert, err := c.recorder.Put(ctx, state)
	defer func() { err = errors.Join(err, revert(context.WithoutCancel(ctx))) }()
	if err != nil {
		return err
	}
	if err := c.cluster.StartWithAccounts(ctx); err != nil {
		return err
	}
	generator, err := updates.New()
	if err != nil {
		return err
	}
	for _, by := range apply.Appliers() {
		r := &updateRun{
			conformance: c, generator: generator, by: apply.Applier(by), dir: filepath.Join(c.dir, "updates", by),
			server: c.recorder.Tested(), answers: map[string]answered{},
		}
		var all []updates.Update
		for number := c.seed; number < c.seed+uint64(c.generate); number++ {
			// Names differ by applier: finalizers may keep an object of a previous applier.
			all = append(all, generator.Update(number, fmt.Sprintf("u-%d-%s", number, by)))
		}
		fmt.Fprintf(c.progress, "%s: %d updates\n", by, len(all))
		if err := r.run(ctx, state, all); err != nil {
			return fmt.Errorf("updates by %s: %w", by, err)
		}
		if c.others {
			fmt.Fprintf(c.progress, "%s: others wrote to %d\n", by, r.written)
		}
	}
	return nil
}

// run sends all updates and compares.
func (r *updateRun) run(ctx context.Context, state []*admission.Object, all []updates.Update) error {
	if err := r.write("context/context.yaml", state...); err != nil {
		return err
	}
	if err := r.write("config.yaml", admission.NewObject(map[string]any{
		"apiVersion": "preadmit.dev/v1alpha1", "kind": "ScanConfig",
		"targets": []any{map[string]any{"name": "updates", "roots": []any{"**"}, "complete": updates.Complete}},
	})); err != nil {
		return err
	}
	if r.by.ServerSide() {
		for _, u := range all {
			if err := r.send(ctx, u); err != nil {
				return err
			}
		}
	} else if err := r.sendWithKubectl(ctx, all); err != nil {
		return err
	}
	return r.compare(ctx)
}

// updateRun compares the updates of one applier.
type updateRun struct {
	*conformance
	generator *updates.Generator
	by        apply.Applier
	dir       string
	server    *live.Server
	// answers has the server's answers by operation and object, like "CREATE Pod u-1-flux".
	answers map[string]answered
	// written counts the writes by others.
	written int
}

// answered is the answer to an applied manifest. Answer is nil if kubectl sends nothing.
type answered struct {
	*live.Answer
	manifest map[string]any
	// old is the object before; unchanged is set if kubectl reports that it is unchanged.
	old       map[string]any
	unchanged bool
}

// send applies the base manifest and, if the server accepts it, the head manifest as a dry run.
func (r *updateRun) send(ctx context.Context, u updates.Update) error {
	place, err := r.server.Place(ctx, admission.NewObject(u.Base))
	if err != nil {
		return err
	}
	created, err := r.apply(ctx, place, u.Base, false)
	if err != nil {
		return err
	}
	if err := r.record("CREATE", "created", u.Base, answered{Answer: created, manifest: u.Base}); err != nil || !created.OK() {
		return err
	}
	before, err := r.between(ctx, place, u)
	if err != nil {
		return err
	}
	updated, err := r.apply(ctx, place, u.Head, true)
	if err != nil {
		return err
	}
	if err := r.record("UPDATE", "base", u.Base, answered{Answer: updated, manifest: u.Head, old: before}); err != nil {
		return err
	}
	if err := r.write("head/"+fileOf(u.Head), admission.NewObject(u.Head)); err != nil {
		return err
	}
	deleted, err := r.server.Do(ctx, live.Call{Method: http.MethodDelete, Path: place.Path, Query: url.Values{"gracePeriodSeconds": {"0"}}})
	if err != nil {
		return err
	}
	return deleted.Err()
}

// apply applies a manifest as the applier does.
func (r *updateRun) apply(ctx context.Context, place live.Place, manifest map[string]any, dry bool) (*live.Answer, error) {
	if r.by == apply.Flux {
		manifest = apply.Normalized(manifest)
	}
	query := url.Values{"fieldManager": {r.by.Manager()}}
	if r.by.Forces() {
		query.Set("force", "true")
	}
	if validation := r.by.Validation(); validation != "" {
		query.Set("fieldValidation", validation)
	}
	if dry {
		query.Set("dryRun", "All")
	}
	return r.server.Do(ctx, live.Call{
		Method: http.MethodPatch, Path: place.Path, Query: query, Body: manifest, ContentType: "application/apply-patch+yaml",
	})
}

// record records an answer, and writes the manifest for the scan.
func (r *updateRun) record(operation, dir string, manifest map[string]any, a answered) error {
	o := admission.NewObject(manifest)
	r.answers[operation+" "+o.GroupVersionKind().Kind+" "+o.Name()] = a
	return r.write(dir+"/"+fileOf(manifest), o)
}

func fileOf(manifest map[string]any) string {
	o := admission.NewObject(manifest)
	return strings.ToLower(o.GroupVersionKind().Kind) + "-" + o.Name() + ".yaml"
}

// write writes objects to a file of the run.
func (r *updateRun) write(name string, objects ...*admission.Object) error {
	var text bytes.Buffer
	for _, o := range objects {
		document, err := yaml.Marshal(o.Content())
		if err != nil {
			return fmt.Errorf("encode %s: %w", name, err)
		}
		text.WriteString("---\n")
		text.Write(document)
	}
	path := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text.Bytes(), 0o644)
}

// compare scans the applied manifests and compares the answers.
func (r *updateRun) compare(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Join(r.dir, "nothing"), 0o755); err != nil {
		return err
	}
	for _, pair := range [][2]string{{"nothing", "created"}, {"base", "head"}} {
		operation := "CREATE"
		if pair[0] == "base" {
			operation = "UPDATE"
		}
		if _, err := os.Stat(filepath.Join(r.dir, pair[1])); errors.Is(err, fs.ErrNotExist) {
			continue // no object was created, so there are no updates
		}
		scanned, err := r.scan(ctx, pair[0], pair[1])
		if err != nil {
			return err
		}
		found := map[string]*reports.Request{}
		for i := range scanned.Requests {
			q := &scanned.Requests[i]
			if q.Subject != nil && q.Generated == nil {
				found[q.Operation+" "+q.Subject.Kind+" "+q.Subject.Name] = q
			}
		}
		for _, name := range slices.Sorted(maps.Keys(r.answers)) {
			if strings.HasPrefix(name, operation) {
				r.compareAnswer(name, r.answers[name], found[name])
			}
		}
	}
	return nil
}

// scan runs preadmit scan on two directories.
func (r *updateRun) scan(ctx context.Context, base, head string) (*reports.Report, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, r.preadmit, "scan", "--base-path", filepath.Join(r.dir, base), filepath.Join(r.dir, head),
		"--config", filepath.Join(r.dir, "config.yaml"), "--context", filepath.Join(r.dir, "context"), "--applier", string(r.by), "--format", "json", "--capture",
		"--fail-on", "never", "--no-workloads", "--timeout", "20m")
	if r.others && base == "base" {
		cmd.Args = append(cmd.Args, "--context", filepath.Join(r.dir, "live"))
	}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("run preadmit scan: %w\n%s", err, stderr.String())
	}
	var scanned reports.Report
	if err := json.Unmarshal(stdout.Bytes(), &scanned); err != nil {
		return nil, fmt.Errorf("read the report of preadmit scan: %w", err)
	}
	return &scanned, nil
}

// compareAnswer compares an answer of the server with a request in the report.
func (r *updateRun) compareAnswer(name string, server answered, ours *reports.Request) {
	if ours != nil && strings.HasPrefix(name, "UPDATE") && strings.Contains(name, "AdmissionPolicy") { // judged as new
		r.compareAllowed(name, server, ours)
		return
	}
	name = string(r.by) + ": " + name
	if !r.areComparable(name, server, ours) {
		return
	}
	r.report.requests++
	if ours.Allowed == nil {
		r.report.unknown(strings.Join(ours.Unknown, "; "))
		return
	}
	if r.compareVerdict(name, server, ours) && server.OK() {
		r.compareStored(name, server, ours)
	}
}

// areComparable reports whether both sides have a request to compare. If not, it counts or reports that.
func (r *updateRun) areComparable(name string, server answered, ours *reports.Request) bool {
	switch {
	case server.unchanged && (ours == nil || ours.Allowed != nil && *ours.Allowed):
		r.report.chance++
	case server.Answer == nil && !server.unchanged:
		r.report.requests++
		if ours == nil || ours.Allowed == nil || *ours.Allowed {
			r.report.ours++
			r.report.difference("PREADMIT", name, "kubectl", "sends nothing", "preadmit", ours)
		}
	case ours == nil && r.changesNothing(server):
		r.report.chance++
	case ours == nil:
		r.report.unsent(name, errors.New("preadmit makes no such request"))
	case server.unchanged:
		r.report.unsent(name, errors.New("kubectl has nothing to change"))
	case strings.HasSuffix(server.Status().Message, ": provided port is already allocated"):
		r.report.chance++ // another example uses the port
	default:
		return true
	}
	return false
}

// compareVerdict compares the verdicts of both sides, and reports whether they are the same.
func (r *updateRun) compareVerdict(name string, server answered, ours *reports.Request) bool {
	status := server.Status()
	if server.OK() {
		status.Code, status.Reason, status.Message = 0, "", ""
	}
	for _, field := range []struct {
		name         string
		server, ours any
	}{
		{"message", status.Message, ours.Message},
		{"code", int(status.Code), ours.Code},
		{"reason", string(status.Reason), ours.Reason},
		{"allowed", server.OK(), *ours.Allowed},
		{"warnings", server.Warnings, ours.Warnings},
	} {
		same := fmt.Sprint(field.server) == fmt.Sprint(field.ours)
		if field.name == "message" {
			same = sameMessage(status.Message, ours.Message, server.manifest)
		}
		if !same {
			r.report.ours++
			r.report.difference("PREADMIT", name+": "+field.name, "server", field.server, "preadmit", field.ours)
			return false
		}
	}
	return true
}

// compareStored compares the objects of a request that is allowed.
func (r *updateRun) compareStored(name string, server answered, ours *reports.Request) {
	object, err := server.Object()
	if err != nil {
		r.report.unsent(name, err)
		return
	}
	var stored map[string]any
	if ours.Object != nil {
		if stored, err = storedContent(ours.Object); err != nil {
			r.report.unsent(name, err)
			return
		}
	}
	for _, pair := range []struct {
		name         string
		server, ours map[string]any
	}{{"object", object, stored}, {"oldObject", server.old, ours.OldObject}} {
		if pair.server == nil || ours.Object == nil {
			continue
		}
		r.report.objects++
		if differences := compareObjects(pair.name, pair.server, pair.ours); len(differences) > 0 {
			r.report.object(name, differences)
		}
	}
}

// compareAllowed compares whether a request is allowed.
func (r *updateRun) compareAllowed(name string, server answered, ours *reports.Request) {
	if server.Answer == nil || ours.Allowed == nil {
		r.report.chance++
		return
	}
	r.report.requests++
	if *ours.Allowed != server.OK() {
		r.report.ours++
		r.report.difference("PREADMIT", string(r.by)+": "+name+": allowed", "server", server.OK(), "preadmit", *ours.Allowed)
	}
}

// changesNothing reports whether an accepted request leaves the server's object unchanged.
func (r *updateRun) changesNothing(a answered) bool {
	if !a.OK() {
		return false
	}
	object, err := a.Object()
	return err == nil && a.old != nil && len(compareObjects("object", object, a.old)) == 0
}
