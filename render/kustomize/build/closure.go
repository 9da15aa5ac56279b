package build

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
)

// AddEntries adds the files that a closure names to a trace, as if they were read.
func AddEntries(t *tree.Tree, c *Closure, trace tree.Trace) {
	for _, e := range c.Entries {
		if e.Target != "" {
			t.TraceFile(e.Target, trace)
		}
	}
}

// Problem returns the reason why kustomize cannot run on the closure; nil if it can.
func (c *Closure) Problem() *render.Problem {
	if c.Refused != nil {
		return c.Refused
	}
	return c.cycle
}

// ReadsOf returns a trace of everything that rendering a kustomization would read.
func ReadsOf(t *tree.Tree, dir string) tree.Trace {
	trace := tree.NewTrace()
	AddEntries(t, Walk(t, dir, trace), trace)
	return trace
}

// Closure is everything that one root's kustomization files contain, found without running kustomize: the
// reason for a refusal, and which entry names which file, for locating kustomize's own failures.
type Closure struct {
	// Refused is the first reason not to run kustomize at all.
	Refused *render.Problem
	// cycle is the first base that leads back to a directory that uses it.
	cycle *render.Problem
	// Openapi is the position of the first `openapi:` field.
	Openapi *tree.Position
	// Artifacts are all that the root needs. An unavailable one leads to a refusal or is Absent.
	Artifacts []render.Artifact
	// Charts are the charts that kustomize inflates.
	Charts []*Chart
	// Absent are the resources that the closure is built without.
	Absent []*Absent
	// Unread are the generators' files that the closure is built without; varied is set when their stand-ins
	// have a second content, see Vary.
	Unread []*Unread
	varied bool

	Entries []Entry
	Files   []*Kustomization
	// Weight is the root's weight.
	Weight weight
}

// Entry is a ref of a kustomization and the path it leads to.
type Entry struct {
	ref
	From *Kustomization
	// Target is the path in the tree, with symbolic links; empty for inline text.
	Target string
}

func (e Entry) Position() tree.Position { return e.From.Position(e.At...) }

// walker follows the kustomization files of one root. It guarantees that kustomize, run on a closure that is
// not refused, reads nothing but files of the tree.
type walker struct {
	tree  *tree.Tree
	trace tree.Trace
	out   *Closure
	// visits caches the weight of each directory, counting repetitions as kustomize does.
	visits map[visitKey]weight
	stack  []string
	// partial is set when resources may be absent, see WalkPartial.
	partial bool
	// users are the directories of the kustomizations that use a directory, by that directory.
	users map[string][]string
	// others are the generators that inflate no chart.
	others map[string]bool
}

type visitKey struct {
	dir    string
	plugin bool
}

// weight counts what kustomize reads for a directory.
type weight struct {
	// kustomizations and documents are numbers of kustomization files and of YAML
	// documents listed as resources.
	kustomizations, documents int
	// generated is the number of generated ConfigMaps and Secrets.
	generated int
	// Patches is how often a patch or replacement is tried on a document.
	Patches int
}

func (l weight) plus(m weight) weight {
	return weight{
		kustomizations: min(l.kustomizations+m.kustomizations, manyVisits),
		documents:      min(l.documents+m.documents, manyVisits),
		generated:      min(l.generated+m.generated, manyVisits),
		Patches:        min(l.Patches+m.Patches, manyVisits),
	}
}

// Walk examines the closure of the kustomization in dir.
func Walk(t *tree.Tree, dir string, trace tree.Trace) *Closure {
	return walk(&walker{tree: t, trace: trace}, dir)
}

func walk(w *walker, dir string) *Closure {
	t := w.tree
	w.out, w.visits, w.users, w.others = &Closure{}, map[visitKey]weight{}, map[string][]string{}, map[string]bool{}
	const multiply = "(bases that include each other multiply)"
	n := w.visit(dir, false)
	w.out.Weight = n
	w.inherit()
	w.mixed()
	switch {
	case n.kustomizations > t.Limits.Visits:
		w.refuse(w.top(), "rendering would load %s kustomization files, more than the limit of %d "+multiply, atLeast(n.kustomizations), t.Limits.Visits)
	case n.documents > t.Limits.Documents:
		w.refuse(w.top(), "rendering would load %s resources, more than the limit of %d "+multiply, atLeast(n.documents), t.Limits.Documents)
	case n.documents+n.generated > t.Limits.Documents:
		w.refuse(w.top(), "rendering would load and generate %s resources, more than the limit of %d "+multiply, atLeast(n.documents+n.generated), t.Limits.Documents)
	case n.Patches > t.Limits.Patches:
		w.refuse(w.top(), "rendering would try patches on resources %s times, more than the limit of %d", atLeast(n.Patches), t.Limits.Patches)
	}
	return w.out
}

const manyVisits = 1 << 30

func atLeast(n int) string {
	if n >= manyVisits {
		return "over a billion"
	}
	return fmt.Sprint(n)
}

// top returns the position of the root's own kustomization file.
func (w *walker) top() tree.Position {
	if len(w.out.Files) == 0 {
		return tree.Position{}
	}
	return tree.Position{Path: w.out.Files[0].Path, Line: 1}
}

func (w *walker) refuse(pos tree.Position, format string, args ...any) {
	if w.out.Refused == nil {
		w.out.Refused = &render.Problem{Kind: render.ProblemRefused, Position: pos, Message: fmt.Sprintf(format, args...)}
	}
}

// visit examines the kustomization in a directory (a path without symbolic links) and everything it uses. It
// returns their weight.
func (w *walker) visit(dir string, plugin bool) weight {
	key := visitKey{dir, plugin}
	if n, ok := w.visits[key]; ok {
		return n
	}
	k := w.load(dir)
	if k == nil {
		return weight{}
	}
	k = w.mounted(k, plugin)
	w.out.Files = append(w.out.Files, k)
	w.stack = append(w.stack, dir)
	w.examine(k, plugin)
	n := weight{kustomizations: 1, generated: len(k.Spec.ConfigMapGenerator) + len(k.Spec.SecretGenerator)}
	for _, r := range k.refs() {
		n = n.plus(w.follow(k, r, plugin))
	}
	n.Patches = min(n.Patches+k.patches()*n.documents, manyVisits)
	w.stack = w.stack[:len(w.stack)-1]
	w.visits[key] = n
	return n
}

// patches returns the number of patches that a kustomization tries on each of its resources.
func (k *Kustomization) patches() int {
	s := &k.Spec
	return len(s.Patches) + len(s.PatchesStrategicMerge) + len(s.PatchesJson6902) + len(s.Replacements)
}

// load reads the kustomization file of a directory; nil unless there is exactly one, which kustomize reports.
func (w *walker) load(dir string) *Kustomization {
	var found *Kustomization
	count := 0
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		k, real, err := kustomizationAt(w.tree, path.Join(dir, name), w.trace)
		if err == nil {
			found = k
			count++
			continue
		}
		w.tree.TraceFile(path.Join(dir, name), w.trace) // the reason depends on it
		w.refuseCostly(real, err)
	}
	if count != 1 {
		return nil
	}
	return found
}

// refuseCostly turns an exceeded limit into a refusal.
func (w *walker) refuseCostly(_ string, err error) {
	if p := render.OverLimit(err); p != nil && w.out.Refused == nil {
		w.out.Refused = p
	}
}

// examine examines the fields that need no other file.
func (w *walker) examine(k *Kustomization, plugin bool) {
	s := &k.Spec
	w.charts(k)
	if len(s.OpenAPI) > 0 && w.out.Openapi == nil {
		pos := k.Position("openapi")
		w.out.Openapi = &pos
	}
	if plugin {
		w.examinePluginBuild(k)
	}
}

// follow examines what an entry leads to.
func (w *walker) follow(k *Kustomization, r ref, plugin bool) weight {
	e := Entry{ref: r, From: k}
	if k.absent[fmt.Sprint(r.At)] || w.remote(e) {
		return weight{}
	}
	switch r.Kind {
	case RefInline, RefPlugin, RefPatch:
		// Kustomize tries a path of these as YAML text first.
		w.inline(e)
	}
	if r.Kind == RefInline || (r.Kind == RefPlugin && IsInline(r.Value)) {
		w.out.Entries = append(w.out.Entries, e)
		w.textual(k.Dir, r.Value, e.Position)
		return weight{}
	}
	if filepath.IsAbs(r.Value) {
		w.out.Entries = append(w.out.Entries, e)
		return weight{}
	}
	e.Target = path.Join(k.Dir, filepath.ToSlash(r.Value))
	w.out.Entries = append(w.out.Entries, e)
	to := w.tree.Resolve(e.Target)
	switch {
	case to.Err != nil:
		return weight{}
	case w.escapes(e, to):
		return weight{}
	case to.IsDir:
		return w.directory(e, to.Real, plugin)
	case r.Kind == RefPlugin || plugin:
		w.pluginFile(e)
	case len(r.At) > 0 && r.At[0] == "crds":
		w.crds(e)
	case r.Kind == RefResource:
		return w.documents(to.Real)
	}
	return weight{}
}

// textual examines YAML text as a path: kustomize treats it as one when it does not decode. A file of such a
// name has no legitimate use.
func (w *walker) textual(dir, value string, at func() tree.Position) {
	if filepath.IsAbs(value) {
		return // leads out of the tree
	}
	name := path.Join(dir, filepath.ToSlash(value))
	w.tree.TraceFile(name, w.trace)
	if w.tree.Resolve(name).Err == nil {
		w.refuse(at(), "there is a file of the name %s, which kustomize may take for YAML text: rename it", Quote(value))
	}
}

func (w *walker) directory(e Entry, dir string, plugin bool) weight {
	if !e.Kind.mayBeDirectory() {
		return weight{}
	}
	for _, above := range w.stack {
		if above == dir || dir == "." || strings.HasPrefix(above, dir+"/") {
			w.cyclic(e, dir)
			return weight{}
		}
	}
	w.users[dir] = append(w.users[dir], e.From.Dir)
	return w.visit(dir, plugin || e.Kind == RefPlugin)
}

// documents counts the documents of a resource file, which kustomize reads one by one.
func (w *walker) documents(real string) weight {
	n, _ := w.tree.CountDocuments(real, w.trace) // kustomize reports errors
	return weight{documents: n}
}

// cyclic records a base at or above a directory that uses it, which kustomize does not allow.
func (w *walker) cyclic(e Entry, dir string) {
	if w.out.cycle != nil {
		return
	}
	message := fmt.Sprintf("cycle of bases: %s", strings.Join(append(w.stack[:len(w.stack):len(w.stack)], dir), " -> "))
	if dir != w.stack[len(w.stack)-1] && !slices.Contains(w.stack, dir) {
		message = fmt.Sprintf("%q leads to %s, a directory above %s, which kustomize takes for a cycle of bases",
			e.Value, dir, w.stack[len(w.stack)-1])
	}
	w.out.cycle = &render.Problem{Kind: render.ProblemFailed, Position: e.Position(), Message: message}
}

// remote refuses an entry that kustomize would fetch. It tests the text of entries of every kind: kustomize
// tries inline YAML as a path when it does not parse.
func (w *walker) remote(e Entry) bool {
	a, ok := e.artifact()
	if !ok {
		return false
	}
	w.need(a)
	what := Quote(e.Value)
	if e.Kind.mayBeDirectory() {
		what = remoteWord(e) + " " + what
	}
	w.refuse(e.Position(), "%s %s", what, w.absent(e, a))
	return true
}

func remoteWord(e Entry) string {
	if strings.HasSuffix(e.Value, ".yaml") || strings.HasSuffix(e.Value, ".yml") {
		return "remote resource"
	}
	return "remote base"
}

// Quote quotes a value of the pull request for a message, cut to 200 bytes.
func Quote(value string) string {
	if len(value) > 200 {
		value = value[:200] + "..."
	}
	return fmt.Sprintf("%q", value)
}
