package render

import (
	"path"
	"regexp"
	"strings"

	"github.com/preadmit/preadmit/render/tree"
)

// testFile matches names of files that make their directory a test of Chainsaw or a test case
// of kuttl. The objects in it are what a test applies to a cluster of its own, and what it
// expects to find there, which need not be whole.
var testFile = regexp.MustCompile(`^(chainsaw-test|[0-9]+-(assert|errors))\.ya?ml$`)

// findTests finds the directories that are tests with all below them: those with such a file,
// or rather the nearest directory at or above one whose name begins with a dot, where tests
// keep what they share.
func (d *discoverer) findTests() {
	d.tests = map[string]bool{}
	for _, l := range d.dirs {
		for _, name := range l.manifests {
			if testFile.MatchString(path.Base(name)) {
				d.tests[testTop(l.path)] = true
			}
		}
	}
}

func testTop(dir string) string {
	for above := dir; above != "."; above = path.Dir(above) {
		if strings.HasPrefix(path.Base(above), ".") {
			return above
		}
	}
	return dir
}

// inTest reports whether a directory is a test or a part of one.
func (d *discoverer) inTest(dir string) bool {
	if len(d.tests) == 0 {
		return false
	}
	_, ok := nearest(dir, d.tests)
	return ok
}

// testGaps adds a gap for each test that no other one contains: what applies a directory above
// with all below it applies tests, too.
func (d *discoverer) testGaps() {
	for _, l := range d.dirs {
		if d.tests[l.path] && (l.path == "." || !d.inTest(path.Dir(l.path))) {
			d.addGap(Gap{Position: tree.Position{Path: l.path}, Kind: GapTest, Root: RootID{Dir: l.path}, Identity: d.contentID(l.path)})
		}
	}
}
