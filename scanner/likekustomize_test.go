package scanner_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/sources"
)

const (
	// locatedRoots: the sources of one in this many roots are checked.
	locatedRoots = 8
	// objectsLookedFor: one in this many objects is searched for in the needs of its root.
	objectsLookedFor = 5
	// askedAgain: kustomize renders one in this many roots although its result is recorded.
	askedAgain = 10
)

// kustomizeAnswers has a line for each kustomization that kustomize rendered: a digest of its
// version, of everything the kustomization may read, and of what it renders to. A rendering with a
// line equals that of kustomize, which need not run again.
const kustomizeAnswers = "testdata/kustomize-answers.txt"

// writing is locked while results are written.
var writing sync.Mutex

// likeKustomize renders every root of the heads from git objects and compares it with kustomize on
// a checkout: both have the same bytes, or both fail. The reads and misses must be among the root's
// needs. A root with the same needs as an earlier one is skipped, since they decide what it renders
// to.
func (c *corpus) likeKustomize(t *testing.T) {
	l := &likeKustomize{corpus: c, seen: map[string]bool{}, answers: recordedAnswers(t), version: kustomizeVersion(t)}
	for _, number := range c.numbers {
		l.head(t, number+"-head")
	}
	switch {
	case *update:
		writeAnswers(t, l.learned)
	case len(l.learned) > 0:
		t.Logf("kustomize ran for %d roots whose answers are not recorded in %s: -update records them", len(l.learned), kustomizeAnswers)
	}
}

// likeKustomize compares the heads of a repository with kustomize.
type likeKustomize struct {
	*corpus
	seen    map[string]bool
	answers map[string]bool
	// version is the version of kustomize.
	version string
	// learned are the results that were not recorded.
	learned []string
	// checkedOut is the branch that is checked out.
	checkedOut string
}

// head compares the roots of the head of a pull request.
func (l *likeKustomize) head(t *testing.T, branch string) {
	t.Helper()
	fsys := l.trees[branch]
	foreseeing := sources.NewRenderer(fsys, render.Options{})
	found, err := foreseeing.Discover(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	r := sources.NewRenderer(fsys, l.options)
	for _, root := range found.Roots {
		counts[string(root.Kind)]++
		needs := foreseeing.Needs(root)
		reads := digest(root.Dir, needs.Trace.Entries())
		id := digest(fmt.Sprint(root, needs.Problem), []string{reads})
		if l.seen[id] {
			continue
		}
		l.seen[id] = true
		result := r.Render(context.Background(), root)
		counts[outcome(result)]++
		counts["compared"]++
		counts["looked for"] += checkNeeds(t, r, needs, result)
		if result.Problem != nil {
			checkProblem(t, r, root, result.Problem)
		}
		if len(needs.Artifacts) > 0 { // kustomize fails without artifacts that are not fetched
			counts["partial"]++
		} else if root.Kind == render.KindKustomize && (result.Problem == nil || result.Problem.Kind != render.ProblemRefused) {
			l.compare(t, branch, reads, result, counts)
		}
		if result.Problem == nil && counts["compared"]%locatedRoots == 0 {
			checkSources(t, r, root, result, counts)
		}
	}
	t.Logf("%s: %v", branch, counts)
}

// compare compares the result of a kustomization with the recorded result of kustomize, or with
// kustomize itself if there is none.
func (l *likeKustomize) compare(t *testing.T, branch, reads string, result *render.Result, counts map[string]int) {
	t.Helper()
	answer := l.answerOf(t, reads, result)
	recorded := l.answers[answer]
	if recorded && counts["compared"]%askedAgain != 0 {
		counts["recorded"]++
		return
	}
	if l.checkedOut != branch {
		l.git(t, "checkout", "--quiet", "--force", "origin/"+branch)
		l.checkedOut = branch
	}
	if sameAsOnDisk(t, result, l.dir) && !recorded {
		counts["learned"]++
		l.learned = append(l.learned, answer)
	}
}

// answerOf returns the line of a rendering of a root; reads is the digest of what it may read.
func (l *likeKustomize) answerOf(t *testing.T, reads string, result *render.Result) string {
	t.Helper()
	h := sha256.New()
	fmt.Fprintln(h, l.version, reads, result.Problem == nil)
	for _, o := range result.Objects {
		data, err := json.Marshal(o.Content())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(h, "%s\n", data)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// kustomizeVersion returns the lines of go.mod about kustomize's modules.
func kustomizeVersion(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	var versions []string
	for line := range strings.Lines(string(data)) {
		if strings.Contains(line, "sigs.k8s.io/kustomize/") {
			versions = append(versions, strings.TrimSpace(line))
		}
	}
	if len(versions) == 0 {
		t.Fatal("go.mod requires no version of kustomize")
	}
	return strings.Join(versions, "\n")
}

func digest(name string, words []string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q", name, words))
	return hex.EncodeToString(sum[:])
}

// recordedAnswers reads the recorded results of kustomize.
func recordedAnswers(t *testing.T) map[string]bool {
	t.Helper()
	data, err := os.ReadFile(kustomizeAnswers)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	answers := map[string]bool{}
	for _, line := range strings.Fields(string(data)) {
		answers[line] = true
	}
	return answers
}

// writeAnswers adds results to the recorded ones.
func writeAnswers(t *testing.T, learned []string) {
	t.Helper()
	writing.Lock()
	defer writing.Unlock()
	data, err := os.ReadFile(kustomizeAnswers)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	lines := append(strings.Fields(string(data)), learned...)
	slices.Sort(lines)
	if err := os.WriteFile(kustomizeAnswers, []byte(strings.Join(slices.Compact(lines), "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

func outcome(r *render.Result) string {
	if r.Problem != nil {
		return string(r.Problem.Kind)
	}
	return "rendered"
}

// checkNeeds checks that the needs of a root cover what its render read and missed, and contain
// what it rendered to. It returns the number of objects that were searched for.
func checkNeeds(t *testing.T, r *render.Renderer, needs *render.Needs, result *render.Result) (looked int) {
	t.Helper()
	if !needs.Cover(result) {
		t.Errorf("%s: rendering reads %v, misses %v; its needs are %v, %v",
			result.Root.Dir, result.Trace.Reads, result.Trace.Misses, needs.Trace.Reads, needs.Trace.Misses)
	}
	if needs.Problem != nil && result.Problem == nil {
		t.Errorf("%s renders, and its needs say %v", result.Root.Dir, needs.Problem)
	}
	for i := 0; i < len(result.Objects); i += objectsLookedFor {
		looked++
		u := unstructured.Unstructured{Object: result.Objects[i].Content()}
		gvk := u.GroupVersionKind()
		if m := (render.Mention{Group: gvk.Group, Kind: gvk.Kind, Name: u.GetName(), Word: u.GetNamespace()}); !r.MayHold(needs, m) {
			t.Errorf("%s renders to %+v, which its needs do not hold", result.Root.Dir, m)
		}
	}
	return looked
}

// sameAsOnDisk reports whether kustomize renders a root of a checkout to the same objects, and
// fails the test otherwise.
func sameAsOnDisk(t *testing.T, result *render.Result, dir string) bool {
	t.Helper()
	k := krusty.MakeKustomizer(&krusty.Options{
		Reorder: krusty.ReorderOptionUnspecified, LoadRestrictions: types.LoadRestrictionsNone, PluginConfig: types.DisabledPluginConfig()})
	root := result.Root
	onDisk, err := k.Run(filesys.MakeFsOnDisk(), filepath.Join(dir, filepath.FromSlash(root.Dir)))
	if (err != nil) != (result.Problem != nil) {
		t.Errorf("%s: kustomize says %v, we say %v", root.Dir, err, result.Problem)
		return false
	}
	if err != nil {
		return true
	}
	want, err := onDisk.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	for i, o := range result.Objects {
		if i > 0 {
			got.WriteString("---\n")
		}
		got.Write(asYAML(t, o.Content()))
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s: the output differs from kustomize's: %s", root.Dir, cmp.Diff(string(want), got.String()))
		return false
	}
	return true
}

// asYAML encodes an object as kustomize does.
func asYAML(t *testing.T, content map[string]any) []byte {
	t.Helper()
	data, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	out, err := sigsyaml.JSONToYAML(data)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// checkProblem checks that every problem has a position in the tree.
func checkProblem(t *testing.T, r *render.Renderer, root render.Root, p *render.Problem) {
	t.Helper()
	if strings.Contains(p.Message, build.Mount) || p.Message == "" {
		t.Errorf("%s: message %q", root.Dir, p.Message)
	}
	if _, err := r.Tree().Stat(p.Path); err != nil {
		t.Errorf("%s: the problem points at %s: %v", root.Dir, p.Path, err)
	}
	if os.Getenv("PREADMIT_VERBOSE") != "" {
		t.Logf("%s: %s: %s", root.Dir, p.Kind, p)
	}
}

// checkSources checks that every object has a source. TestProvenance checks the fields.
func checkSources(t *testing.T, r *render.Renderer, root render.Root, result *render.Result, counts map[string]int) {
	t.Helper()
	origins, err := r.Origins(context.Background(), result)
	if err != nil {
		t.Fatalf("%s: %v", root.Dir, err)
	}
	if len(origins) != len(result.Objects) {
		t.Fatalf("%s: %d sources for %d objects", root.Dir, len(origins), len(result.Objects))
	}
	for _, s := range origins {
		counts["objects"]++
		if s.Document().Line == 0 {
			counts["undocumented"]++
		}
		if !s.HasFields() {
			counts["inexact"]++
		}
	}
}
