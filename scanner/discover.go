package scanner

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/deploy"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/gaps"
	"github.com/preadmit/preadmit/scanner/lines"
)

// discover finds the roots of both trees.
func (s *scan) discover(ctx context.Context) (err error) {
	if err := s.checkGlobs(); err != nil {
		return err
	}
	s.work.Report("discover", 0, 1)
	how := change.Options{Under: s.in.Head.Under, Selects: s.inGlobs(), Seeks: s.inPositiveGlobs(), TestData: s.testData(), Rendering: s.in.Rendering, Refused: s.in.Refused, Charts: s.in.Config.DeployCharts()}
	if !s.directories {
		how.Deploy = &deploy.Options{KubeVersion: admission.KubernetesVersion(), Entries: s.in.Config.Entries, Self: s.in.Config.Self, SourcePaths: s.in.Config.SourcePaths, Strict: s.in.Config.StrictSubstitution, Remotes: s.in.Remotes, ArgoCD: s.in.Config.DeployArgoCD(), Charts: s.in.Config.DeployCharts(), Answers: s.in.Answers}
		how.JudgeUnclaimed, how.JudgeUnsettled = s.in.Config.Unclaimed == config.UnclaimedJudge, s.in.Config.Unclaimed == ""
		how.Policies = s.in.Config.PolicyPaths()
	}
	var base fs.FS
	if s.in.Base != nil {
		base = s.in.Base.FS
	}
	if s.Change, err = change.Open(ctx, base, s.in.Head.FS, s.in.Render, how); err != nil {
		return err
	}
	if err := s.checkDeployed(); err != nil {
		return err
	}
	s.locator = lines.New(ctx, s.Change, s.work, s.in.Answers)
	s.ledger = gaps.New(s.Change, gaps.Options{Config: s.in.Config, Under: s.in.Head.Under, Refused: s.in.Refused, Workers: s.work})
	if s.Base != nil {
		s.ledger.KeepRoots()
	}
	if err := s.checkSelection(); err != nil {
		return err
	}
	for _, d := range s.Head.Found.Diagnostics {
		if change.UnderAny(s.in.Head.Under, d.Path) {
			s.ledger.Note(report.Diagnostic{
				Severity: string(d.Severity), Message: d.Message, Location: new(change.LocationOf(d.Position, change.Head)),
				Untouched: s.Base != nil && slices.Contains(s.Base.Found.Diagnostics, d),
			})
		}
	}
	s.work.Report("discover", 1, 1)
	return nil
}

// inGlobs returns a function that reports whether the configuration's globs select one of some
// names; nil if there are no globs.
func (s *scan) inGlobs() func(names ...string) bool {
	if len(s.in.Config.Roots) == 0 {
		return nil
	}
	return func(names ...string) bool { return config.Chooses(s.in.Config.Roots, names...) }
}

// inPositiveGlobs returns a function that reports whether a positive glob selects a directory; nil if there
// are no positive globs. Excluded directories count too, so that nothing else is judged in their
// place.
func (s *scan) inPositiveGlobs() func(dir string) bool {
	globs := config.Positive(s.in.Config.Roots)
	if len(globs) == 0 {
		return nil
	}
	return func(dir string) bool { return config.Chooses(globs, dir) }
}

// testData returns a function that reports whether a directory inside test data is selected
// explicitly: by a path to judge, by a glob, or by a path of policies or context. It returns nil if
// none is.
func (s *scan) testData() func(dir string) bool {
	named := func(name string) bool {
		parts := strings.Split(name, "/")
		return slices.Contains(parts, render.TestData) || slices.Contains(parts, render.Vendor)
	}
	not := func(name string) bool { return !named(name) }
	globs := slices.DeleteFunc(config.Positive(s.in.Config.Roots), not)
	paths := slices.DeleteFunc(slices.Concat(s.in.Head.Under, s.in.Config.GivenPaths()), not)
	if len(globs)+len(paths) == 0 {
		return nil
	}
	return func(dir string) bool {
		return len(globs) > 0 && config.Chooses(globs, dir) || slices.ContainsFunc(paths, func(name string) bool {
			return change.Under(name, dir) || path.Dir(name) == dir // name is the path of a file
		})
	}
}

// checkSelection returns an error if the globs select no root: a mistyped glob must not let every
// change pass.
func (s *scan) checkSelection() error {
	if match := s.inGlobs(); match == nil || s.AnyRoot(match) {
		return nil
	}
	if len(config.Positive(s.in.Config.Roots)) == 0 {
		return &InputError{What: "roots", Err: fmt.Errorf("%q leave out every root: nothing to judge", s.in.Config.Roots)}
	}
	return &InputError{What: "roots", Err: fmt.Errorf("%q match no root", s.in.Config.Roots)}
}

// checkDeployed returns an error if a path of entries or sourcePaths is in neither tree: the
// objects deployed from there would not be judged.
func (s *scan) checkDeployed() error {
	if s.directories {
		return nil
	}
	for _, entry := range s.in.Config.Entries {
		if !s.Head.Has(entry) && !s.Base.Has(entry) {
			return missingPath(s.in.Config.Missing(entry, "entries"))
		}
	}
	for _, source := range slices.Sorted(maps.Keys(s.in.Config.SourcePaths)) {
		if dir := s.in.Config.SourcePaths[source]; !s.Head.Has(dir) && !s.Base.Has(dir) {
			return missingPath(s.in.Config.Missing(dir, "sourcePaths."+source))
		}
	}
	return nil
}

func missingPath(err error) error { return &InputError{Err: err} }

func (s *scan) checkGlobs() error {
	globs := slices.Clone(s.in.Config.Roots)
	for _, t := range s.in.Config.Targets {
		globs = append(globs, t.Roots...)
	}
	for _, glob := range globs {
		if err := config.CheckGlob(glob); err != nil {
			return &InputError{What: "roots", Err: err}
		}
	}
	return nil
}
