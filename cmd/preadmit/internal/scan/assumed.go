package scan

import (
	"context"
	"fmt"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/clusterconfig"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/release"
)

// assumed returns remarks on files of the repository that configure API servers of another minor version than
// from, which is only the version before --to. Each version has one remark.
func assumed(ctx context.Context, c *Change, from, to string) ([]report.Diagnostic, error) {
	settings, err := clusterconfig.Find(ctx, tree.New(c.Head.FS, tree.Limits{}), render.IsTestData)
	if err != nil {
		return nil, err
	}
	var remarks []report.Diagnostic
	known := map[int]bool{0: true, release.Minor(from): true}
	for _, s := range settings {
		minor := release.Minor(s.Version)
		if known[minor] {
			continue
		}
		known[minor] = true
		advice := "--from, or kubernetesVersion in " + config.FileName + ", sets it"
		if _, err := release.ParseVersion(s.Version); err != nil {
			advice = "an API server of its version cannot be imitated"
		} else if minor >= release.Minor(to) {
			advice = "it is not before " + to
		}
		remarks = append(remarks, report.Diagnostic{
			Severity: "warning",
			Location: new(change.LocationOf(render.Position{Path: s.Path, Line: s.Line}, change.Head)),
			Message:  fmt.Sprintf("the API server of this cluster has Kubernetes %s, and the version before the upgrade is %s: %s", s.Version, from, advice),
		})
	}
	return remarks, nil
}
