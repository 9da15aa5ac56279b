package render

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
)

// closure is everything one root's kustomization files say, found without
// running kustomize: what must be refused, and which entry names which file, for
// locating kustomize's own failures.
type closure struct {
	// refused is the first reason not to run kustomize at all.
	refused *Problem
	// cycle is the first base that leads back to where it was used from.
	cycle *Problem
	// openapi is the first `openapi:` field.
	openapi *Position
	entries []entry
	files   []*kustomization
	// weight is that of the root.
	weight weight
}

// entry is a ref of a kustomization with where it leads.
type entry struct {
	ref
	from *kustomization
	// target is the path in the tree, not resolved; empty for inline text.
	target string
}

func (e entry) position() Position { return e.from.position(e.at...) }

// walker follows the kustomization files of one root. Its guarantee is that
// kustomize, run on a closure without refusal, asks for nothing but files of the
// tree.
type walker struct {
	tree  *tree
	trace Trace
	out   *closure
	// visits remembers what a directory loads, with repetitions, as kustomize would.
	visits map[visitKey]weight
	stack  []string
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
	// patches is how often a patch or replacement is tried on a document.
	patches int
}

func (l weight) plus(m weight) weight {
	return weight{
		kustomizations: min(l.kustomizations+m.kustomizations, manyVisits),
		documents:      min(l.documents+m.documents, manyVisits),
		patches:        min(l.patches+m.patches, manyVisits),
	}
}

// walk examines the closure of the kustomization in dir.
func walk(t *tree, dir string, trace Trace) *closure {
	w := &walker{tree: t, trace: trace, out: &closure{}, visits: map[visitKey]weight{}}
	const multiply = "(bases that include each other multiply)"
	n := w.visit(dir, false)
	w.out.weight = n
	switch {
	case n.kustomizations > t.limits.Visits:
		w.refuse(w.top(), "rendering would load %s kustomization files, more than the limit of %d "+multiply, atLeast(n.kustomizations), t.limits.Visits)
	case n.documents > t.limits.Documents:
		w.refuse(w.top(), "rendering would load %s resources, more than the limit of %d "+multiply, atLeast(n.documents), t.limits.Documents)
	case n.patches > t.limits.Patches:
		w.refuse(w.top(), "rendering would try patches on resources %s times, more than the limit of %d", atLeast(n.patches), t.limits.Patches)
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

// top is the root's own kustomization file.
func (w *walker) top() Position {
	if len(w.out.files) == 0 {
		return Position{}
	}
	return Position{Path: w.out.files[0].path, Line: 1}
}

func (w *walker) refuse(pos Position, format string, args ...any) {
	if w.out.refused == nil {
		w.out.refused = &Problem{Kind: ProblemRefused, Position: pos, Message: fmt.Sprintf(format, args...)}
	}
}

// visit examines the kustomization in a directory (without symbolic links) and
// what it uses. It returns what kustomize would load.
func (w *walker) visit(dir string, plugin bool) weight {
	key := visitKey{dir, plugin}
	if n, ok := w.visits[key]; ok {
		return n
	}
	k := w.load(dir)
	if k == nil {
		return weight{}
	}
	w.out.files = append(w.out.files, k)
	w.stack = append(w.stack, dir)
	w.examine(k, plugin)
	n := weight{kustomizations: 1}
	for _, r := range k.refs() {
		n = n.plus(w.follow(k, r, plugin))
	}
	n.patches = min(n.patches+k.patches()*n.documents, manyVisits)
	w.stack = w.stack[:len(w.stack)-1]
	w.visits[key] = n
	return n
}

// patches counts what a kustomization tries on each of its resources.
func (k *kustomization) patches() int {
	s := &k.spec
	return len(s.Patches) + len(s.PatchesStrategicMerge) + len(s.PatchesJson6902) + len(s.Replacements)
}

// load reads the kustomization file of a directory; nil when there is not
// exactly one, which kustomize will say.
func (w *walker) load(dir string) *kustomization {
	var found *kustomization
	count := 0
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		k, real, err := kustomizationAt(w.tree, path.Join(dir, name), w.trace)
		if err == nil {
			found = k
			count++
			continue
		}
		w.tree.traceFile(path.Join(dir, name), w.trace) // why it is not read depends on it
		w.refuseCostly(real, err)
	}
	if count != 1 {
		return nil
	}
	return found
}

// refuseCostly turns an exceeded limit into a refusal.
func (w *walker) refuseCostly(_ string, err error) {
	if p := costly(err); p != nil && w.out.refused == nil {
		w.out.refused = p
	}
}

// costly is the problem of a file over a limit; nil for any other error.
func costly(err error) *Problem {
	var big *limitError
	if errors.As(err, &big) {
		return &Problem{Kind: ProblemRefused, Position: Position{Path: big.path}, Message: "the file" + strings.TrimPrefix(big.Error(), big.path)}
	}
	var bomb *locatedBomb
	if errors.As(err, &bomb) {
		return &Problem{Kind: ProblemRefused, Position: bomb.at, Message: bomb.message}
	}
	return nil
}

// examine looks at the fields that need no other file.
func (w *walker) examine(k *kustomization, plugin bool) {
	s := &k.spec
	if len(s.HelmCharts) > 0 {
		w.refuse(k.position("helmCharts", 0), "Helm charts are not rendered: inflating %q runs the helm program", s.HelmCharts[0].Name)
	}
	if len(s.HelmChartInflationGenerator) > 0 {
		w.refuse(k.position("helmChartInflationGenerator", 0),
			"Helm charts are not rendered: inflating %q runs the helm program", s.HelmChartInflationGenerator[0].ChartName)
	}
	if len(s.OpenAPI) > 0 && w.out.openapi == nil {
		pos := k.position("openapi")
		w.out.openapi = &pos
	}
	if plugin {
		w.examinePluginBuild(k)
	}
}

// follow examines what an entry leads to.
func (w *walker) follow(k *kustomization, r ref, plugin bool) weight {
	e := entry{ref: r, from: k}
	if w.remote(e) {
		return weight{}
	}
	switch r.kind {
	case refInline, refPlugin, refPatch:
		// Kustomize tries a path of these as YAML text first.
		w.inline(e)
	}
	if r.kind == refInline || (r.kind == refPlugin && text(r.value)) {
		w.out.entries = append(w.out.entries, e)
		w.textual(k.dir, r.value, e.position)
		return weight{}
	}
	if filepath.IsAbs(r.value) {
		w.out.entries = append(w.out.entries, e)
		return weight{}
	}
	e.target = path.Join(k.dir, filepath.ToSlash(r.value))
	w.out.entries = append(w.out.entries, e)
	to := w.tree.resolve(e.target)
	switch {
	case to.err != nil:
		return weight{}
	case to.isDir:
		return w.directory(e, to.real, plugin)
	case r.kind == refPlugin || plugin:
		w.pluginFile(e)
	case len(r.at) > 0 && r.at[0] == "crds":
		w.crds(e)
	case r.kind == refResource:
		return w.documents(to.real)
	}
	return weight{}
}

// textual examines YAML text as the path that kustomize takes it for when it does
// not decode. A file of such a name has no honest use.
func (w *walker) textual(dir, value string, at func() Position) {
	if filepath.IsAbs(value) {
		return // leads out of the tree
	}
	name := path.Join(dir, filepath.ToSlash(value))
	w.tree.traceFile(name, w.trace)
	if w.tree.resolve(name).err == nil {
		w.refuse(at(), "there is a file of the name %s, which kustomize may take for YAML text: rename it", quote(value))
	}
}

func (w *walker) directory(e entry, dir string, plugin bool) weight {
	if !e.kind.mayBeDirectory() {
		return weight{}
	}
	for _, above := range w.stack {
		if above == dir || dir == "." || strings.HasPrefix(above, dir+"/") {
			w.cyclic(e, dir)
			return weight{}
		}
	}
	return w.visit(dir, plugin || e.kind == refPlugin)
}

// documents counts those of a resource file, which kustomize reads one by one.
func (w *walker) documents(real string) weight {
	n, _ := w.tree.countDocuments(real, w.trace) // kustomize will say what is wrong
	return weight{documents: n}
}

// cyclic notes a base at or above a directory that uses it, which kustomize does
// not allow.
func (w *walker) cyclic(e entry, dir string) {
	if w.out.cycle != nil {
		return
	}
	message := fmt.Sprintf("cycle of bases: %s", strings.Join(append(w.stack[:len(w.stack):len(w.stack)], dir), " -> "))
	if dir != w.stack[len(w.stack)-1] && !slices.Contains(w.stack, dir) {
		message = fmt.Sprintf("%q leads to %s, a directory above %s, which kustomize takes for a cycle of bases",
			e.value, dir, w.stack[len(w.stack)-1])
	}
	w.out.cycle = &Problem{Kind: ProblemFailed, Position: e.position(), Message: message}
}

// remote refuses an entry that kustomize would reach out for. Whatever kind of
// entry it is, its text is tested: kustomize tries inline YAML as a path when it
// does not parse.
func (w *walker) remote(e entry) bool {
	switch e.kind {
	case refResource, refBase, refPlugin:
		if remoteBase(e.value) {
			w.refuse(e.position(), "%s %s is not fetched: rendering does not reach the network", remoteWord(e), quote(e.value))
			return true
		}
	default:
		if remoteFile(e.value) {
			w.refuse(e.position(), "%s is not fetched: rendering does not reach the network", quote(e.value))
			return true
		}
	}
	return false
}

func remoteWord(e entry) string {
	if strings.HasSuffix(e.value, ".yaml") || strings.HasSuffix(e.value, ".yml") {
		return "remote resource"
	}
	return "remote base"
}

// quote shows a value of the pull request in a message, cut to a bearable length.
func quote(value string) string {
	if len(value) > 200 {
		value = value[:200] + "..."
	}
	return fmt.Sprintf("%q", value)
}
