package render

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/preadmit/preadmit/render/tree"
)

// Needs are what a root is made of, as far as can be known without rendering it.
type Needs struct {
	// Trace holds everything that rendering the root may read or miss.
	Trace tree.Trace
	// Problem is why the root is not rendered, when that is known beforehand: it
	// would be refused, or bases form a cycle.
	Problem *Problem
	// Lacks is what the root is rendered without, if it can be; nil for nothing.
	Lacks *Lack
	// Artifacts are what the root needs from outside the repository, as far as that is known
	// without having it. A root that needs some is refused, or lacks them.
	Artifacts []Artifact
	// Charts is set when charts are rendered, which see the version of Kubernetes.
	Charts bool

	// tree is the one that the needs are of.
	tree *tree.Tree
	// files are those of Trace that are read, in order.
	files []string
	// within is the directory that everything in Trace lies in; linked is set when a
	// symbolic link is a part of it.
	within string
	linked bool
	// words are those of all files, when they come from the cache.
	words tree.WordSet
	// said are the words of the texts of Composition, and asIs the files that are none of them.
	said    func() tree.WordSet
	asIs    []string
	anyName bool
	Composition
}

// Composition says how a root makes words that none of its files holds.
type Composition struct {
	// Free is set when what the root renders to may hold any: they are put together by
	// plugins, vars, charts or what else is not looked into.
	Free bool
	// Composed is set when words may be any that are no kinds, groups or names: they are put
	// together by replacements, or by references of other kinds than the usual. Renamed is set when
	// names may be, too.
	Composed, Renamed bool
	// Resources are the files that objects are written in, or generated of, and that decide nothing
	// of those of other files: all words of an object are in one of them and in files that are none. Nil when
	// that is not known of any.
	Resources map[string]bool
	// Affixes are what names may get in front or behind.
	Affixes []string
	// Generated are the kinds of generated objects, whose names get a hash.
	Generated map[string]bool
	// Patched is set when a patch may make any kind of any other.
	Patched bool
	// Texts returns the texts that hold the words of the objects beside the files, given the
	// contents of those files that hold a `$`, which it returns as variables make them; nil when
	// the files hold all. anyName is set when names, and other words than kinds and groups, may
	// be any.
	Texts func(files [][]byte) (texts [][]byte, anyName bool)
	// Shared returns more words that the objects may hold, which many roots have in common; nil
	// when they may hold any. It is looked at where Texts is set.
	Shared func() tree.WordSet
}

// Needs returns what a root is made of. It costs little more than to follow the
// kustomization files; those, and where they lead, are read once for all roots.
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
			in.said = sync.OnceValue(func() tree.WordSet { return r.wordsSaid(in) })
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

// needsKey is what the needs of a root follow from, in a tree.
type needsKey struct {
	RootID
	unit *Unit
}

func keyOf(root Root) needsKey { return needsKey{root.RootID, root.Unit} }

// Identity returns a name for all that decides what a root renders to and where that is written, whatever the version of
// Kubernetes is: the root, and all that its units are made of, which known returns. It is empty where the version may
// decide, and for what does not render. rendered is what the root renders to.
func (r *Renderer) Identity(root Root, rendered *Result, known func(RootID) (Root, bool)) string {
	var words []string
	seen := map[RootID]bool{root.RootID: true}
	for next := []Root{root}; len(next) > 0; {
		root, next = next[0], next[1:]
		in := r.Needs(root)
		if in.Problem != nil || in.Charts && (rendered == nil || !rendered.ofAnyVersion()) {
			return ""
		}
		rendered = nil // of others it is not looked up
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

// Cover reports whether rendering read and missed nothing but what is in the needs.
func (in *Needs) Cover(result *Result) bool { return in.Trace.Covers(result.Trace) }

// listFiles notes which files are read, and where everything is.
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

// Mention is what the objects looked for have in common. Fields that are empty do
// not matter.
type Mention struct {
	// Group and Kind are theirs.
	Group, Kind string
	// Name is their name, Word something else they hold, such as a namespace.
	Name, Word string
	// Text is a word that is written somewhere, also where a chart makes up names, which may then be any.
	Text string
}

// MayHold reports whether a root may render to objects that one of the mentions is
// of, going by the text of its files. It is false only when that is certain.
func (r *Renderer) MayHold(in *Needs, mentions ...Mention) bool {
	if in.Free {
		return len(mentions) > 0
	}
	if len(mentions) == 0 {
		return false
	}
	if in.said != nil {
		in.said() // finds out what questions there are
	}
	asked := make([]tree.Query, 0, 4*len(mentions)+4)
	for _, m := range mentions {
		asked = append(asked, in.questions(m)...)
	}
	// Annotations by which kustomize talks to itself make it do anything.
	asked = append(asked, tree.Query{How: tree.WholeWord, Text: "internal.config.kubernetes.io"}, tree.Query{}, tree.Query{}, tree.Query{})
	answers := make([]bool, len(asked))
	for i, q := range asked {
		answers[i] = q.Text == ""
	}
	if !r.answer(in, asked, answers) {
		return true
	}
	return anyAnswered(answers) && r.anyObject(in, asked)
}

// anyAnswered reports whether all questions of one mention are answered.
func anyAnswered(answers []bool) bool {
	for all := range slices.Chunk(answers, 4) {
		if !slices.Contains(all, false) {
			return true
		}
	}
	return false
}

// anyObject reports whether the words of an object may answer all questions of one mention, where the
// words of a root do.
func (r *Renderer) anyObject(in *Needs, asked []tree.Query) bool {
	if in.said != nil || len(in.words) > 0 || len(in.Resources) == 0 {
		return true
	}
	by := make([]bool, len(asked))
	for i, q := range asked {
		by[i] = q.Text == ""
	}
	var resources []string
	for _, name := range in.files {
		if in.Resources[name] {
			resources = append(resources, name)
		} else {
			r.tree.Mentions(name, asked, by)
		}
	}
	if anyAnswered(by) {
		return true
	}
	answers := make([]bool, len(by))
	return slices.ContainsFunc(resources, func(name string) bool {
		copy(answers, by)
		r.tree.Mentions(name, asked, answers)
		return anyAnswered(answers)
	})
}

// answer sets the answers of questions that the words of a root answer. It is false when the
// root may hold any word.
func (r *Renderer) answer(in *Needs, asked []tree.Query, answers []bool) bool {
	words, files := in.words, in.files
	var shared tree.WordSet
	if in.said != nil {
		if words, files = in.said(), in.asIs; words == nil {
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
	for i, q := range asked {
		answers[i] = answers[i] || words.Holds(q) || shared.Holds(q)
	}
	for _, name := range files {
		r.tree.Mentions(name, asked, answers)
	}
	return true
}

// wordsSaid are the words that the objects may hold beside those of files as they are; nil
// when they may hold any.
func (r *Renderer) wordsSaid(in *Needs) tree.WordSet {
	var files [][]byte
	for _, name := range in.files {
		if !r.tree.HoldsDollar(name) {
			in.asIs = append(in.asIs, name)
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

// questions are what some file has to answer each, for the root to hold what is
// mentioned: always four.
func (in *Needs) questions(m Mention) []tree.Query {
	if in.Generated[m.Kind] {
		m.Kind = "" // which the file need not say
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

// unaffixed are the kinds whose names kustomize leaves alone.
var unaffixed = [...]string{"Namespace", "CustomResourceDefinition"}

// composes reports whether the name of a mentioned object may be put together of
// words. A patch may do that to the names of all kinds: kustomize goes by the kind
// that an object had at first.
func (in *Needs) composes(m Mention) bool {
	if len(in.Generated) > 0 && (in.Patched || m.Kind == "" || in.Generated[m.Kind]) {
		return true
	}
	if slices.Contains(unaffixed[:], m.Kind) && !in.Patched {
		return false
	}
	return slices.ContainsFunc(in.Affixes, func(affix string) bool { return strings.Contains(m.Name, affix) })
}
