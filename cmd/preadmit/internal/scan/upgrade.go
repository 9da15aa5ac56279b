package scan

import (
	"context"
	"fmt"
	"slices"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/release"
	"github.com/preadmit/preadmit/scanner/upgrade"
)

// Upgrade judges the head of a change as the API servers of two versions do, and compares what they
// say. It returns the configuration in force, too.
func Upgrade(ctx context.Context, p cli.Process, f *Flags, change *Change, extras []scanner.Extra) (*report.Report, config.Config, error) {
	j := &judging{p: p, f: f, change: change, extras: extras}
	cfg, remarks, err := LoadConfig(f, change)
	if err != nil {
		return nil, cfg, err
	}
	before, after, err := f.Release.between(cfg)
	if err != nil {
		return nil, cfg, err
	}
	if part := p.Part; part != nil { // one of the two
		if part.Override {
			before = after
		}
		_, err := j.parts(ctx, before)
		return nil, cfg, err
	}
	remove, err := j.shareCache()
	if err != nil {
		return nil, cfg, err
	}
	defer remove()
	from, err := j.parts(ctx, before)
	if err != nil {
		return nil, cfg, err
	}
	j.override = true
	to, err := j.parts(ctx, after)
	if err != nil {
		return nil, cfg, err
	}
	result := upgrade.Compare(scanner.Join(from), scanner.Join(to))
	result.Diagnose(append(remarks, change.Remarks...)...)
	return result, cfg, nil
}

// between returns a configuration as it is before and after an upgrade.
func (f *ReleaseFlags) between(cfg config.Config) (before, after config.Config, err error) {
	before, after = cfg, cfg
	forAll(&after, f.to)
	to, err := after.Release()
	if err != nil {
		return before, after, cli.Usagef("%w", err)
	}
	versioned := slices.ContainsFunc(cfg.Targets, func(t config.Target) bool { return t.KubernetesVersion != "" })
	switch previous := fmt.Sprintf("1.%d", release.Minor(to.Version)-1); {
	case f.from != "":
		forAll(&before, f.from)
	case cfg.KubernetesVersion != "" || versioned:
	case !slices.Contains(release.Minors(), previous):
		return before, after, cli.Usagef("--from is missing: the version before %s is not known, want one of %v", f.to, release.Minors())
	default:
		forAll(&before, previous)
	}
	all, err := before.Releases()
	if err != nil {
		return before, after, cli.Usagef("%w", err)
	}
	for _, from := range all {
		if from == to {
			return before, after, cli.Usagef("--from and --to are the same version, Kubernetes %s: there is nothing to compare", to)
		}
	}
	return before, after, nil
}
