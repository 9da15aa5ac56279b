package argocd

import (
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/argocd/settings"
)

// Ignored returns the fields that a sync leaves as they are in the cluster, none unless the
// Application has the sync option RespectIgnoreDifferences=true (controller/sync.go,
// normalizeTargetResources). The error says which expression of spec.ignoreDifferences is none: Argo
// CD compares nothing then, with the option or without, and applies nothing.
func (s *Spec) Ignored() (fields []render.Ignored, field string, err error) {
	if fields, field, err = settings.IgnoredBy(s.IgnoreDifferences); err != nil {
		return nil, "spec." + field, err
	}
	if !s.LeavesIgnored() {
		fields = nil
	}
	return fields, "", nil
}

// LeavesIgnored reports whether a sync leaves what is not compared as it is in the cluster.
func (s *Spec) LeavesIgnored() bool { return s.HasOption("RespectIgnoreDifferences=true") }
