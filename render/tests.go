package render

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render/tree"
)

// testFile matches names of files that make their directory a test of Chainsaw or a test case of kuttl. Its objects are
// applied to a test cluster, or are expected there and may be incomplete.
var testFile = regexp.MustCompile(`^(chainsaw-test|[0-9]+-(assert|errors))\.ya?ml$`)

// kyvernoTest matches names of files that `kyverno test` reads. Their resources are not applied anywhere.
var kyvernoTest = regexp.MustCompile(`^kyverno-test\.ya?ml$`)

// findTests finds the directories that are tests, including all directories below: those with such a file, or the
// nearest directory at or above whose name begins with a dot, where tests keep shared files.
func (d *discoverer) findTests() {
	d.tests = map[string]bool{}
	for _, l := range d.dirs {
		for _, name := range l.manifests {
			if testFile.MatchString(path.Base(name)) || kyvernoTest.MatchString(path.Base(name)) && !d.testsOwnPolicies(name) {
				d.tests[testTop(l.path)] = true
			}
		}
	}
}

// testsOwnPolicies reports whether a test of Kyverno tests policies in its own directory or below, which may be
// deployed.
func (d *discoverer) testsOwnPolicies(name string) bool {
	var test struct {
		Policies []string `json:"policies"`
	}
	data, _, err := d.tree.Load(name, tree.NewTrace())
	return err != nil || sigsyaml.Unmarshal(data, &test) != nil ||
		slices.ContainsFunc(test.Policies, func(policy string) bool { return !strings.HasPrefix(path.Clean(policy), "..") })
}

func testTop(dir string) string {
	for above := dir; above != "."; above = path.Dir(above) {
		if strings.HasPrefix(path.Base(above), ".") {
			return above
		}
	}
	return dir
}

// inTest reports whether a directory is a test or a part of one, or holds test data.
func (d *discoverer) inTest(dir string) bool {
	if d.isTestData(dir) {
		return true
	}
	if len(d.tests) == 0 {
		return false
	}
	_, ok := nearest(dir, d.tests)
	return ok
}

// TestData is the name of directories with data for tests, as in go help packages: "Directory ... names ... that are
// named "testdata" are ignored." Vendor is that of copies of Go modules, which have a file modules.txt (go help mod
// vendor); they count as test data.
const (
	TestData = "testdata"
	Vendor   = "vendor"
)

// IsTestData reports whether a directory has data for tests by its name.
func IsTestData(dir string) bool { return path.Base(dir) == TestData }

// isTestData reports whether a directory is at or below test data, and is not selected by Selection.TestData.
func (d *discoverer) isTestData(dir string) bool {
	_, ok := d.topTestData(dir)
	return ok && (d.testData == nil || !d.testData(dir))
}

// topTestData returns the highest directory of test data at or above a directory.
func (d *discoverer) topTestData(dir string) (top string, ok bool) {
	for at := dir; at != "."; at = path.Dir(at) {
		if IsTestData(at) || path.Base(at) == Vendor && d.tree.Resolve(path.Join(at, "modules.txt")).Err == nil {
			top, ok = at, true
		}
	}
	return top, ok
}

// testGaps adds a gap for each test that is not part of another one: a deployer that applies everything below a
// directory applies tests as well.
func (d *discoverer) testGaps() {
	added := map[string]bool{}
	for _, l := range d.dirs {
		if top, ok := d.topTestData(l.path); ok && d.isTestData(l.path) {
			if !added[top] && d.isSource(l) {
				added[top] = true
				d.addGap(Gap{Position: tree.Position{Path: top}, Kind: GapTestData, Root: RootID{Dir: top}, Identity: d.manifestsID(top)})
			}
			continue
		}
		if d.tests[l.path] && (l.path == "." || !d.inTest(path.Dir(l.path))) {
			d.addGap(Gap{Position: tree.Position{Path: l.path}, Kind: GapTest, Root: RootID{Dir: l.path}, Identity: d.contentID(l.path)})
		}
	}
}

// isSource reports whether a directory would be a root if it were not in a test.
func (d *discoverer) isSource(l *directory) bool {
	return len(l.rootFiles) > 0 || slices.ContainsFunc(l.manifests, func(name string) bool { return d.isManifestOf(l, name) })
}

// manifestsID returns an identity of the manifests and kustomizations at and below a directory.
func (d *discoverer) manifestsID(dir string) string {
	var names []string
	at := d.extents[dir]
	for _, l := range d.dirs[at.from:at.to] {
		names = append(names, l.manifests...)
		for _, name := range l.rootFiles {
			names = append(names, path.Join(l.path, name))
		}
	}
	return d.filesID(names)
}

// filesID returns an identity of files.
func (d *discoverer) filesID(names []string) string {
	h := sha256.New()
	for _, name := range names {
		id, err := d.tree.Identity(name)
		_, _ = fmt.Fprintf(h, "%q %s %v\n", name, id, err)
	}
	return hex.EncodeToString(h.Sum(nil))
}
