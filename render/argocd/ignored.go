package argocd

import (
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/argocd/settings"
)

// Ignored returns the fields that a sync does not change in the cluster; none unless the Application has the sync
// option RespectIgnoreDifferences=true (controller/sync.go, normalizeTargetResources). It fails for an invalid
// expression in spec.ignoreDifferences, and returns its field: with or without the option, Argo CD then compares and
// applies nothing.
func (s *Spec) Ignored() (fields []render.Ignored, field string, err error) {
	if fields, field, err = settings.IgnoredBy(s.IgnoreDifferences); err != nil {
		return nil, "spec." + field, err
	}
	if !s.LeavesIgnored() {
		fields = nil
	}
	return fields, "", nil
}

// LeavesIgnored reports whether a sync does not change ignored fields in the cluster.
func (s *Spec) LeavesIgnored() bool { return s.HasOption("RespectIgnoreDifferences=true") }
