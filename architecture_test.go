package preadmit_test

import (
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// TestArchitectureNamesEveryPackage: the tables of packages in ARCHITECTURE.md have three cells a row and
// name each package, by its path, or by its last element in a row that names a neighbour or the
// package above.
func TestArchitectureNamesEveryPackage(t *testing.T) {
	rows := packageRows(t)
	for dir := range packagesOf(t) {
		if !named(rows, dir) {
			t.Errorf("ARCHITECTURE.md: no table of packages names %s", dir)
		}
	}
}

// packageRows returns the rows of the tables of packages, without their heads.
func packageRows(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, table := range strings.Split(string(text), "\n| package |")[1:] {
		table, _, _ := strings.Cut(table, "\n\n")
		rows = append(rows, strings.Split(table, "\n")[2:]...)
	}
	if rows == nil {
		t.Fatal("ARCHITECTURE.md has no table of packages")
	}
	for _, row := range rows {
		if strings.Count(row, "|") != 4 {
			t.Errorf("ARCHITECTURE.md: a row of the packages has no three cells: %s", row)
		}
	}
	return rows
}

var quoted = regexp.MustCompile("`[^`]+`")

// named reports whether a row names the package.
func named(rows []string, dir string) bool {
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

func TestNamed(t *testing.T) {
	rows := []string{"| `render/artifact/permit`, `store` | what | - |", "| `render/kustomize` | runs it; `build`: reads | - |"}
	for dir, want := range map[string]bool{
		"render/artifact/permit": true, "render/artifact/store": true, "render/kustomize/build": true,
		"render/artifact/lock": false, "report/store": false,
	} {
		if named(rows, dir) != want {
			t.Errorf("named(%s) = %v", dir, !want)
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
