package preadmit_test

import (
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// TestHouseNamesEveryPackage: the table of packages in ARCHITECTURE.md has three cells a row and
// names each package, by its path, or by its last element in a row that names a neighbour or the
// package above.
func TestHouseNamesEveryPackage(t *testing.T) {
	rows := houseRows(t)
	for dir := range packagesOf(t) {
		if !inHouse(rows, dir) {
			t.Errorf("ARCHITECTURE.md: the house has no row that names %s", dir)
		}
	}
}

// houseRows returns the rows of the table of packages, without its head.
func houseRows(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, house, _ := strings.Cut(string(text), "\n| package |")
	house, _, found := strings.Cut(house, "\n\n")
	if !found {
		t.Fatal("ARCHITECTURE.md has no table of packages")
	}
	rows := strings.Split(house, "\n")[2:]
	for _, row := range rows {
		if strings.Count(row, "|") != 4 {
			t.Errorf("ARCHITECTURE.md: a row of the house has no three cells: %s", row)
		}
	}
	return rows
}

var quoted = regexp.MustCompile("`[^`]+`")

// inHouse reports whether a row names the package.
func inHouse(rows []string, dir string) bool {
	for _, row := range rows {
		short, near := false, false
		for _, quote := range quoted.FindAllString(row, -1) {
			name := strings.Trim(quote, "`")
			if name == dir {
				return true
			}
			short = short || name == path.Base(dir)
			near = near || name == path.Dir(dir) || path.Dir(name) == path.Dir(dir)
		}
		if short && near {
			return true
		}
	}
	return false
}

func TestInHouse(t *testing.T) {
	rows := []string{"| `render/artifact/permit`, `store` | what | - |", "| `render/kustomize` | runs it; `build`: reads | - |"}
	for dir, want := range map[string]bool{
		"render/artifact/permit": true, "render/artifact/store": true, "render/kustomize/build": true,
		"render/artifact/lock": false, "report/store": false,
	} {
		if inHouse(rows, dir) != want {
			t.Errorf("inHouse(%s) = %v", dir, !want)
		}
	}
}

var goFile = regexp.MustCompile(`\b[a-z0-9_]+\.go\b`)

// TestDocsNameFilesOfThePackage: what the doc.go of a package says is in a file is in one that is there.
func TestDocsNameFilesOfThePackage(t *testing.T) {
	named := 0
	for dir := range packagesOf(t) {
		text, err := os.ReadFile(path.Join(dir, "doc.go"))
		if err != nil {
			continue // another file has what there is to say
		}
		for _, file := range goFile.FindAllString(string(text), -1) {
			named++
			if _, err := os.Stat(path.Join(dir, file)); err != nil {
				t.Errorf("%s/doc.go names %s, which is not there", dir, file)
			}
		}
	}
	if named == 0 {
		t.Error("no doc.go names a file")
	}
}
