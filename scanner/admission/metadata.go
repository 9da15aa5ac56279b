package admission

import (
	"context"

	"k8s.io/apiserver/pkg/warning"
)

// orphansPods is what the server warns of when a Job is deleted without saying
// what becomes of its pods (k8s.io/kubernetes/pkg/registry/batch/job/storage).
const orphansPods = "child pods are preserved by default when jobs are deleted; " +
	"set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning"

// warnOfOrphans warns as the server does of a DELETE without options. GitOps
// controllers and kubectl always say what becomes of dependents.
func (p *preparation) warnOfOrphans(ctx context.Context) {
	if p.ask.Applier == "" && p.handler.resource.GroupResource() == gr("batch", "jobs") {
		warning.AddWarning(ctx, "", orphansPods)
	}
}
