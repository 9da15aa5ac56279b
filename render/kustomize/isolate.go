package kustomize

import (
	"context"
	"encoding/json"
	"fmt"

	"sigs.k8s.io/kustomize/kyaml/openapi"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/isolate"
	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/tree"
)

// WorkKind is the kind of the jobs that Work does.
const WorkKind = "kustomization"

// job is a root to render in a process of its own.
type job struct {
	Root           render.Root           `json:"root"`
	LoadRestrictor render.LoadRestrictor `json:"loadRestrictor,omitempty"`
	// KustomizeVersion is Options.KustomizeVersion.
	KustomizeVersion string `json:"kustomizeVersion,omitempty"`
}

// jobResult is the JSON form of a Result.
type jobResult struct {
	Objects []json.RawMessage `json:"objects,omitempty"`
	// Unknown are the unknown fields of the objects, by their indexes.
	Unknown map[int][]render.Unknown `json:"unknown,omitempty"`
	Trace   tree.Trace               `json:"trace"`
	Problem *render.Problem          `json:"problem,omitempty"`
}

// isolated renders a root in a process of its own.
func (r *Source) isolated(ctx context.Context, root render.Root) (*render.Result, error) {
	encoded, err := r.opts.Isolate(ctx, r.tree.Fsys, r.opts.Limits, WorkKind, job{Root: root, LoadRestrictor: r.opts.LoadRestrictor, KustomizeVersion: r.opts.KustomizeVersion})
	if err != nil {
		return nil, err
	}
	var done jobResult
	if err := json.Unmarshal(encoded, &done); err != nil {
		return nil, fmt.Errorf("read the result: %w", err)
	}
	result := &render.Result{Root: root, Trace: done.Trace, Problem: done.Problem}
	for i, data := range done.Objects {
		result.Objects = append(result.Objects, &render.Object{JSON: data, Index: i, Unknown: done.Unknown[i]})
	}
	return result, nil
}

// Work renders a root with `openapi:`, in a process of its own.
func Work(_ context.Context, _ *isolate.Process, t *tree.Tree, spec json.RawMessage) (any, error) {
	var j job
	if err := json.Unmarshal(spec, &j); err != nil {
		return nil, fmt.Errorf("read the job: %w", err)
	}
	// As in the kustomize command, a root's own schema replaces the built-in one, so the latter must not be
	// loaded yet.
	openapi.ResetOpenAPI()
	r := &Source{tree: t, opts: render.Options{LoadRestrictor: j.LoadRestrictor, KustomizeVersion: j.KustomizeVersion}}
	result := &render.Result{Root: j.Root, Trace: tree.NewTrace()}
	c := build.Walk(r.tree, j.Root.Dir, result.Trace)
	if result.Problem = atEntry(c, c.Problem()); result.Problem == nil {
		r.build(result, c)
		r.unknownVersion(result, c)
	}
	done := &jobResult{Trace: result.Trace, Problem: result.Problem, Unknown: map[int][]render.Unknown{}}
	for i, o := range result.Objects {
		done.Objects = append(done.Objects, o.JSON)
		if len(o.Unknown) > 0 {
			done.Unknown[i] = o.Unknown
		}
	}
	return done, nil
}
