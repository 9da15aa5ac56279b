package scanner_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/scanner/gaps"
)

// TestRules checks the table of rules: the functions and tests in it exist, and it has each
// exported function that adds to a ledger or reports otherwise.
func TestRules(t *testing.T) {
	funcs := functions(t, "gaps")
	tests := functions(t, "gaps", ".")
	named := map[string]bool{}
	for _, rule := range gaps.Rules() {
		named[rule.Func] = true
		if !funcs[rule.Func] {
			t.Errorf("there is no function %s", rule.Func)
		}
		if rule.Protects == "" || len(rule.Tests) == 0 {
			t.Errorf("%s: nothing says what it protects from, or which test shows it", rule.Func)
		}
		for _, name := range rule.Tests {
			if !tests[name] {
				t.Errorf("%s: there is no test %s", rule.Func, name)
			}
		}
	}
	// These functions are no rules.
	for _, name := range []string{"New", "Add", "AddObject", "Note", "Unlocated", "Locate", "Indeterminate", "Rules", "RenderedFirst"} {
		named[name] = true
	}
	for name := range funcs {
		if ast.IsExported(name) && !strings.HasPrefix(name, "Test") && !named[name] {
			t.Errorf("%s is not in the table of rules", name)
		}
	}
}

// functions returns the names of the functions and methods in directories.
func functions(t *testing.T, dirs ...string) map[string]bool {
	names := map[string]bool{}
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, decl := range parsed.Decls {
				if f, ok := decl.(*ast.FuncDecl); ok {
					names[f.Name.Name] = true
				}
			}
		}
	}
	return names
}
