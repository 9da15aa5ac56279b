package render

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/preadmit/preadmit/render/tree"
)

// Needs are the inputs of a root, as far as they are known without rendering it.
type Needs struct {
	// Trace has everything that rendering the root may read or find missing.
	Trace tree.Trace
	// Problem is the reason why the root is not rendered, if it is known beforehand: it would be refused, or bases form
	// a cycle.
	Problem *Problem
	// Lacks is what the root is rendered without; nil if nothing is missing.
	Lacks *Lack
	// Artifacts are what the root needs from outside the repository, as far as that is known without fetching it. A
	// root whose artifacts are missing is refused, or lacks them.
	Artifacts []Artifact
	// Charts is set when charts are rendered, which can read the version of Kubernetes.
	Charts bool

	// tree is the tree of the root.
	tree *tree.Tree
	// files are the files of Trace that are read, sorted.
	files []string
	// within is the directory that contains everything in Trace. linked is set when Trace has a symbolic link.
	within string
	linked bool
	// words are the words of all files, if they come from the cache.
	words tree.WordSet
	// textWords returns the words of Composition.Texts. plainFiles are the files without variables, which are not among
	// the texts; textWords sets plainFiles and anyName.
	textWords  func() tree.WordSet
	plainFiles []string
	anyName    bool
	Composition
}

// Composition describes how a root makes words that are in none of its files.
type Composition struct {
	// Free is set when the objects may hold any word, because plugins, vars, charts or something else that is not
	// analyzed creates them.
	Free bool
	// Composed is set when the objects may hold any word that is no kind, group or name, because replacements, or
	// references of unusual kinds, create them. Renamed is set when names may be any as well.
	Composed, Renamed bool
	// Resources are the files in which objects are written, or from which they are generated, and that have no
	// influence on objects of other files: all words of an object are in one of these files, and in files that are not
	// among Resources. Nil if no such files are known.
	Resources map[string]bool
	// Affixes are the prefixes and suffixes that names may get.
	Affixes []string
	// Generated are the kinds of generated objects, whose names get a hash.
	Generated map[string]bool
	// Patched is set when a patch may change the kind of objects.
	Patched bool
	// Texts returns additional texts with words of the objects. It is called with the contents of the files that hold a
	// `$`, which it returns after substitution. Nil means that the files hold all words. anyName is set when names, and
	// other words than kinds and groups, may be any.
	Texts func(files [][]byte) (texts [][]byte, anyName bool)
	// Shared returns more words that the objects may hold, which many roots have in common; nil if they may hold any
	// word. It is used only if Texts is set.
	Shared func() tree.WordSet
}

// Needs returns the inputs of a root. It costs little more than following the kustomization files, which are read once
// for all roots.
func (r *Renderer) Needs(root Root) *Needs {
	if !root.listed() {
		if in, ok := r.needs.Load(keyOf(root)); ok {
			return in.(*Needs)
		}
	}
	in := r.cachedNeeds(root)
	if in == nil {
		in = r.source(root.Kind).Needs(root)
		in.listFiles(root)
		if in.Texts != nil {
			in.textWords = sync.OnceValue(func() tree.WordSet { return r.wordsOfTexts(in) })
		}
		if found := r.found.Load(); found != nil && in.Problem == nil {
			in.Problem = found.refusal(root)
		}
	}
	if in.tree = r.tree; root.listed() {
		return in
	}
	kept, _ := r.needs.LoadOrStore(keyOf(root), in)
	return kept.(*Needs)
}

// needsKey identifies the needs of a root in a tree.
type needsKey struct {
	RootID
	unit *Unit
}

func keyOf(root Root) needsKey { return needsKey{root.RootID, root.Unit} }

// Identity returns a string that identifies everything which decides what a root renders to and where that is written,
// for any version of Kubernetes: the root, and the roots that its unit is made of, which known returns. It is empty if
// the version may have an influence, and for roots that do not render. rendered is the result of the root.
func (r *Renderer) Identity(root Root, rendered *Result, known func(RootID) (Root, bool)) string {
	var words []string
	seen := map[RootID]bool{root.RootID: true}
	for next := []Root{root}; len(next) > 0; {
		root, next = next[0], next[1:]
		in := r.Needs(root)
		if in.Problem != nil || in.Charts && (rendered == nil || !rendered.ofAnyVersion()) {
			return ""
		}
		rendered = nil // the results of other roots are not looked up
		words = append(words, string(keyFor(root, in, r.opts, true)))
		for _, other := range root.Unit.madeOf() {
			if seen[other] || other == (RootID{}) {
				continue
			}
			seen[other] = true
			from, ok := known(other)
			if !ok {
				return ""
			}
			next = append(next, from)
		}
	}
	return strings.Join(words, " ")
}

// IsReused reports whether the needs come from the cache.
func (in *Needs) IsReused() bool { return in.words != nil }

// Cover reports whether rendering read, and found missing, only what is in the needs.
func (in *Needs) Cover(result *Result) bool { return in.Trace.Covers(result.Trace) }

// listFiles sets files, within and linked from Trace.
func (in *Needs) listFiles(root Root) {
	in.within = root.Dir
	for name, id := range in.Trace.Reads {
		in.within = tree.CommonDir(in.within, name)
		if !tree.IsMark(id) {
			in.files = append(in.files, name)
		}
		in.linked = in.linked || strings.HasPrefix(id, tree.LinkMark)
	}
	for name := range in.Trace.Misses {
		in.within = tree.CommonDir(in.within, name)
	}
	slices.Sort(in.files)
}

// Mention describes objects to look for. Empty fields match everything.
type Mention struct {
	// Group and Kind are those of the objects.
	Group, Kind string
	// Name is the name of the objects, Word another word that they hold, such as a namespace.
	Name, Word string
	// Text is a word that is written in a file even where a chart makes names, which may then be any.
	Text string
}

// MayHold reports whether a root may render to objects that match one of the mentions, judging by the text of its
// files. It is false only if that is certain.
func (r *Renderer) MayHold(in *Needs, mentions ...Mention) bool {
	if in.Free {
		return len(mentions) > 0
	}
	if len(mentions) == 0 {
		return false
	}
	if in.textWords != nil {
		in.textWords() // sets anyName, which queriesFor reads
	}
	queries := make([]tree.Query, 0, 4*len(mentions)+4)
	for _, m := range mentions {
		queries = append(queries, in.queriesFor(m)...)
	}
	// kustomize's internal annotations may have any effect.
	queries = append(queries, tree.Query{How: tree.WholeWord, Text: "internal.config.kubernetes.io"}, tree.Query{}, tree.Query{}, tree.Query{})
	answers := make([]bool, len(queries))
	for i, q := range queries {
		answers[i] = q.Text == ""
	}
	if !r.answer(in, queries, answers) {
		return true
	}
	return anyAnswered(answers) && r.anyObject(in, queries)
}

// anyAnswered reports whether all queries of one mention are answered.
func anyAnswered(answers []bool) bool {
	for all := range slices.Chunk(answers, 4) {
		if !slices.Contains(all, false) {
			return true
		}
	}
	return false
}

// anyObject reports whether a single object may hold all words of a mention, once the root as a whole does.
func (r *Renderer) anyObject(in *Needs, queries []tree.Query) bool {
	if in.textWords != nil || len(in.words) > 0 || len(in.Resources) == 0 {
		return true
	}
	by := make([]bool, len(queries))
	for i, q := range queries {
		by[i] = q.Text == ""
	}
	var resources []string
	for _, name := range in.files {
		if in.Resources[name] {
			resources = append(resources, name)
		} else {
			r.tree.Mentions(name, queries, by)
		}
	}
	if anyAnswered(by) {
		return true
	}
	answers := make([]bool, len(by))
	return slices.ContainsFunc(resources, func(name string) bool {
		copy(answers, by)
		r.tree.Mentions(name, queries, answers)
		return anyAnswered(answers)
	})
}

// answer sets the answers to the queries whose words the root holds. It is false if the root may hold any word.
func (r *Renderer) answer(in *Needs, queries []tree.Query, answers []bool) bool {
	words, files := in.words, in.files
	var shared tree.WordSet
	if in.textWords != nil {
		if words, files = in.textWords(), in.plainFiles; words == nil {
			return false
		}
		if in.Shared != nil {
			if shared = in.Shared(); shared == nil {
				return false
			}
		}
	} else if len(words) > 0 {
		files = nil
	}
	for i, q := range queries {
		answers[i] = answers[i] || words.Holds(q) || shared.Holds(q)
	}
	for _, name := range files {
		r.tree.Mentions(name, queries, answers)
	}
	return true
}

// wordsOfTexts returns the words that the objects may hold beside those of files without variables; nil if they may
// hold any word.
func (r *Renderer) wordsOfTexts(in *Needs) tree.WordSet {
	var files [][]byte
	for _, name := range in.files {
		if !r.tree.HoldsDollar(name) {
			in.plainFiles = append(in.plainFiles, name)
			continue
		}
		data, err := r.tree.Read(name)
		if err != nil {
			return nil
		}
		files = append(files, data)
	}
	texts, anyName := in.Texts(files)
	in.anyName = anyName
	return tree.WordsOf(texts)
}

// queriesFor returns the queries for a mention, always four. Each must match some file for the root to hold the
// mentioned object.
func (in *Needs) queriesFor(m Mention) []tree.Query {
	if in.Generated[m.Kind] {
		m.Kind = "" // the file need not contain the kind
	}
	if in.composes(m) {
		m.Name = ""
	}
	if in.anyName || in.Renamed {
		m.Name = ""
	}
	if in.anyName || in.Composed {
		m.Word = ""
	}
	return []tree.Query{{How: tree.GroupWord, Text: m.Group}, {How: tree.KindWord, Text: m.Kind}, {How: tree.WholeWord, Text: m.Name}, {How: tree.WholeWord, Text: cmp.Or(m.Text, m.Word)}}
}

// unaffixed are the kinds to whose names kustomize adds no prefix or suffix.
var unaffixed = [...]string{"Namespace", "CustomResourceDefinition"}

// composes reports whether the name of a mentioned object may be composed. With a patch, this holds for all kinds:
// kustomize uses the kind that an object had at first.
func (in *Needs) composes(m Mention) bool {
	if len(in.Generated) > 0 && (in.Patched || m.Kind == "" || in.Generated[m.Kind]) {
		return true
	}
	if slices.Contains(unaffixed[:], m.Kind) && !in.Patched {
		return false
	}
	return slices.ContainsFunc(in.Affixes, func(affix string) bool { return strings.Contains(m.Name, affix) })
}
