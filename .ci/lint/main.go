// Command lint runs the analyzers of staticcheck and go vet on packages, for make lint.
//
// A single program loads each package only once. go vet would start a process for every package,
// which loads it again, and would take longer than staticcheck itself.
package main

import (
	"os"

	"golang.org/x/tools/go/analysis/suite/vet"
	"honnef.co/go/tools/analysis/lint"
	"honnef.co/go/tools/lintcmd"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/stylecheck"
	"honnef.co/go/tools/unused"
)

func main() {
	cmd := lintcmd.NewCommand("lint")
	cmd.ParseFlags(os.Args[1:])
	cmd.AddAnalyzers(simple.Analyzers...)
	cmd.AddAnalyzers(staticcheck.Analyzers...)
	cmd.AddAnalyzers(stylecheck.Analyzers...)
	cmd.AddAnalyzers(unused.Analyzer)
	for _, a := range vet.Suite {
		cmd.AddAnalyzers(&lint.Analyzer{Analyzer: a, Doc: &lint.RawDocumentation{Title: a.Doc}})
	}
	cmd.Run()
}
