package build

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
)

// Absent is a remote resource or chart that is not available. A file without objects takes its place, or one
// with stubs: objects that a kustomization refers to by name and that nothing else contains.
type Absent struct {
	Entry
	// Why is the reason: the end of a refusal message; for a chart, a sentence.
	Why string
	// IsChart is set for a chart.
	IsChart bool
	// Whole is set when the resource is a kustomization, which may do more than list objects.
	Whole bool
	// standIn is the path of the file that takes its place.
	standIn string
	stubs   []resid.ResId
}

// Problem returns the reason why kustomize cannot build the closure with the resource.
func (a *Absent) Problem() *render.Problem {
	p := &render.Problem{Kind: render.ProblemRefused, Position: a.Position(), Message: a.Why}
	if !a.IsChart {
		p.Message = fmt.Sprintf("%s %s %s", remoteWord(a.Entry), Quote(a.Value), a.Why)
	}
	return p
}

// WalkPartial examines the closure as Walk does, but leaves out unavailable resources. Its build lacks their
// objects.
func WalkPartial(t *tree.Tree, dir string, trace tree.Trace) *Closure {
	return walk(&walker{tree: t, trace: trace, partial: true}, dir)
}

// leaveOut replaces a resource with a stand-in. ok is false for other entries, as they change other objects.
func (w *walker) leaveOut(e Entry, a render.Artifact, why string, plugin bool) (change edit, ok bool) {
	switch {
	case !w.partial || plugin:
		return edit{}, false
	case e.isGeneratorFile():
		return w.leaveOutFile(e, a, why)
	case e.Kind != RefResource:
		return edit{}, false
	}
	name := fmt.Sprintf(".absent-%d.yaml", len(w.out.Absent))
	if change, ok = e.From.edit(e, path.Join(e.From.Dir, name)); !ok {
		return edit{}, false
	}
	w.need(a)
	w.out.Absent = append(w.out.Absent, &Absent{
		Entry: e, Why: why, Whole: a.Kind != render.ArtifactFile, standIn: path.Join(e.From.Dir, name),
	})
	return change, true
}

// leaveOutChart leaves out an unavailable chart if the closure may be partial. A chart of a generator is
// refused: transformers may change what generators make.
func (w *walker) leaveOutChart(c *Chart, why string) {
	switch {
	case c.At == nil:
		w.refuse(c.Position, "%s", why)
		return
	case !w.partial:
		w.refuse(c.Field("version"), "%s", why)
		return
	}
	c.absent = &Absent{
		Entry: Entry{ref: ref{Value: c.Name, At: append(slices.Clone(c.At), "version")}, From: c.From}, Why: why, IsChart: true, Whole: true,
	}
	w.out.Absent = append(w.out.Absent, c.absent)
}

// stubMark is the annotation of stubs.
const stubMark = "preadmit.internal/absent"

// standIn returns the content that kustomize reads instead of an absent resource.
func (c *Closure) standIn(name string) ([]byte, bool) {
	if c == nil {
		return nil, false
	}
	if data, ok := c.unreadContent(name); ok {
		return data, true
	}
	i := slices.IndexFunc(c.Absent, func(a *Absent) bool { return a.standIn == name })
	if i < 0 {
		return nil, false
	}
	return c.Absent[i].stubbed(), true
}

// stubbed returns the YAML of the resource's stubs.
func (a *Absent) stubbed() []byte {
	var out bytes.Buffer
	for _, id := range a.stubs {
		metadata := map[string]any{"name": id.Name, "annotations": map[string]string{stubMark: id.String()}}
		if id.Namespace != "" {
			metadata["namespace"] = id.Namespace
		}
		data, _ := sigsyaml.Marshal(map[string]any{"apiVersion": id.ApiVersion(), "kind": id.Kind, "metadata": metadata}) // strings
		out.WriteString("---\n")
		out.Write(data)
	}
	return out.Bytes()
}

// accumulated matches the directories in kustomize's error messages.
var accumulated = regexp.MustCompile(`recursed accumulation of path '([^']+)'`)

// Base returns the directory of the base in which kustomize failed; "" when it is the root, or a component,
// which cannot be built alone.
func (c *Closure) Base(err error) string {
	found := accumulated.FindAllStringSubmatch(err.Error(), -1)
	if len(found) == 0 {
		return ""
	}
	dir, err := InTree(found[len(found)-1][1])
	isBase := func(k *Kustomization) bool { return k.Dir == dir && k.Spec.Kind != types.ComponentKind }
	if err != nil || !slices.ContainsFunc(c.Files, isBase) {
		return ""
	}
	return dir
}

// maxStubs limits the stubs of a closure: each takes a build.
const maxStubs = 16

// AddStub adds a stub of an object that kustomize did not find. If the object has a stub already, which did
// not help, it moves to the next absent resource: a kustomization sees only what is below it. ok is false when
// no place is left.
func (c *Closure) AddStub(id resid.ResId) (ok bool) {
	count := 0
	for i, a := range c.Absent {
		count += len(a.stubs)
		if at := slices.Index(a.stubs, id); at >= 0 {
			a.stubs = slices.Delete(a.stubs, at, at+1)
			if i+1 == len(c.Absent) {
				return false
			}
			c.Absent[i+1].stubs = append(c.Absent[i+1].stubs, id)
			return true
		}
	}
	if len(c.Absent) == 0 || count >= maxStubs {
		return false
	}
	c.Absent[0].stubs = append(c.Absent[0].stubs, id)
	return true
}

// RemoveStubs removes the stubs from the objects that kustomize built. It fails when a patch may have replaced
// a whole stub, so that it cannot be told from other objects.
func (c *Closure) RemoveStubs(built resmap.ResMap) error {
	var missing []resid.ResId
	for _, a := range c.Absent {
		missing = append(missing, a.stubs...)
	}
	for _, r := range slices.Clone(built.Resources()) {
		stub := r.GetAnnotations()[stubMark]
		if stub == "" {
			continue
		}
		if err := built.Remove(r.CurId()); err != nil {
			return fmt.Errorf("remove the stub of %s: %w", r.CurId(), err)
		}
		if i := slices.IndexFunc(missing, func(id resid.ResId) bool { return id.String() == stub }); i >= 0 {
			missing = slices.Delete(missing, i, i+1)
		}
	}
	for _, id := range missing { // usually a patch deleted it
		for _, r := range built.Resources() {
			if r.GetKind() == id.Kind && strings.Contains(r.GetName(), id.Name) {
				return fmt.Errorf("%s may be a stub that a patch replaces", r.CurId())
			}
		}
	}
	return nil
}
