package scan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/release"
	"github.com/preadmit/preadmit/scanner/upgrade"
)

// Upgrade judges the head of a change as the API servers of two versions do, and compares the findings.
// It also returns the configuration in force.
func Upgrade(ctx context.Context, p cli.Process, f *Flags, change *Change, extras []scanner.Extra) (*report.Report, config.Config, error) {
	j := &judging{p: p, f: f, change: change, extras: extras}
	cfg, remarks, err := LoadConfig(f, change)
	if err != nil {
		return nil, cfg, err
	}
	before, to, err := f.Release.between(cfg)
	if err != nil {
		return nil, cfg, err
	}
	if part := p.Part; part != nil { // this child process judges as one of the two
		if part.From != nil {
			before = f.Release.upgraded(before, *part.From)
		}
		_, err := j.parts(ctx, before)
		return nil, cfg, err
	}
	if f.Release.from == "" && cfg.KubernetesVersion == "" && before.KubernetesVersion != "" {
		notes, err := assumed(ctx, change, "v"+before.KubernetesVersion, to.Version)
		if err != nil {
			return nil, cfg, err
		}
		remarks = append(remarks, notes...)
	}
	remove, err := j.share()
	if err != nil {
		return nil, cfg, err
	}
	defer remove()
	from, err := j.parts(ctx, before)
	if err != nil {
		return nil, cfg, err
	}
	var pairs []upgrade.Pair
	for _, part := range from {
		r := part.Release
		next := release.Release{Version: to.Version, FeatureGates: r.FeatureGates, RuntimeConfig: r.RuntimeConfig}.Normal()
		if why := f.Release.uncompared(r, next); why != "" {
			remarks = append(remarks, report.Diagnostic{Severity: "note", Message: fmt.Sprintf("targets that have Kubernetes %s%s are not compared: %s", r, why, strings.Join(part.Targets, ", "))})
			continue
		}
		judged, err := j.partOf(ctx, f.Release.upgraded(before, r), next, &r)
		if err != nil {
			return nil, cfg, err
		}
		pairs = append(pairs, upgrade.Pair{From: part, To: judged})
	}
	result := upgrade.Compare(pairs)
	result.Diagnose(append(remarks, change.Remarks...)...)
	return result, cfg, nil
}

// uncompared returns why targets of a release are not upgraded to the next one; "" if they are. Only --from makes a
// later version the one before.
func (f *ReleaseFlags) uncompared(r, next release.Release) string {
	switch {
	case r == next:
		return " already"
	case f.from == "" && release.Before(next.Version, r.Version):
		return ", a later version,"
	}
	return ""
}

// upgraded returns the configuration before with the targets of one release upgraded. All other targets
// get that old release, so that they are not judged with the upgraded ones.
func (f *ReleaseFlags) upgraded(before config.Config, of release.Release) config.Config {
	next := before
	next.Targets = slices.Clone(before.Targets)
	version := func(r release.Release) string {
		if r == of {
			return f.to
		}
		return of.Version
	}
	for i := range next.Targets {
		if r, err := before.ReleaseOf(&before.Targets[i]); err == nil { // checked before
			next.Targets[i].KubernetesVersion = version(r)
		}
	}
	if r, err := before.Release(); err == nil {
		next.KubernetesVersion = version(r)
	}
	return next
}

// between returns the configuration before an upgrade, and the release after it.
func (f *ReleaseFlags) between(cfg config.Config) (before config.Config, to release.Release, err error) {
	before = cfg
	after := cfg
	forAll(&after, f.to)
	to, err = after.Release()
	if err != nil {
		return before, to, cli.Usagef("%w", err)
	}
	versioned := slices.ContainsFunc(cfg.Targets, func(t config.Target) bool { return t.KubernetesVersion != "" })
	switch previous := fmt.Sprintf("1.%d", release.Minor(to.Version)-1); {
	case f.from != "":
		forAll(&before, f.from)
	case cfg.KubernetesVersion != "" || versioned:
	case !slices.Contains(release.Minors(), previous):
		return before, to, cli.Usagef("--from is missing: the version before %s is not known, want one of %v", f.to, release.Minors())
	default:
		forAll(&before, previous)
	}
	all, err := before.Releases()
	if err != nil {
		return before, to, cli.Usagef("%w", err)
	}
	compared := func(from release.Release) bool {
		return f.uncompared(release.Release{Version: from.Version}, release.Release{Version: to.Version}) == ""
	}
	if !slices.ContainsFunc(all, compared) {
		if f.from == "" {
			return before, to, cli.Usagef("the targets have Kubernetes %s already: there is nothing to compare with --to %s; --from names another version", names(all), f.to)
		}
		return before, to, cli.Usagef("--from and --to are the same version, Kubernetes %s: there is nothing to compare", to.Version)
	}
	return before, to, nil
}
