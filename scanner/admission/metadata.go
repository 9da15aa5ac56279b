package admission

import (
	"context"

	"k8s.io/apiserver/pkg/warning"
)

// orphansPods is the server's warning when a Job is deleted without a propagation policy
// (k8s.io/kubernetes/pkg/registry/batch/job/storage).
const orphansPods = "child pods are preserved by default when jobs are deleted; " +
	"set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning"

// warnOfOrphans adds the server's warning about a DELETE without options. GitOps controllers and
// kubectl always set a propagation policy.
func (p *preparation) warnOfOrphans(ctx context.Context) {
	if p.client.Applier == "" && p.handler.resource.GroupResource() == gr("batch", "jobs") {
		warning.AddWarning(ctx, "", orphansPods)
	}
}
