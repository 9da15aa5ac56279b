package admission

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/apis/batch"
)

// jobLabels are the labels the server adds to the pods of a Job whose selector it
// makes (k8s.io/kubernetes/pkg/registry/batch/job, generateSelector).
var jobLabels = []string{
	batch.LegacyControllerUidLabel, batch.ControllerUidLabel,
	batch.LegacyJobNameLabel, batch.JobNameLabel,
}

// keepGenerated carries over what the server generated at creation and the sender
// never wrote, as a patch or server-side apply does where a PUT would drop it:
// the selector of a Job and the labels that go with it.
func keepGenerated(obj, old runtime.Object) {
	job, ok := obj.(*batch.Job)
	before, ok2 := old.(*batch.Job)
	if !ok || !ok2 || job.Spec.Selector != nil || job.Spec.ManualSelector != nil && *job.Spec.ManualSelector {
		return
	}
	job.Spec.Selector = before.Spec.Selector
	for _, label := range jobLabels {
		if value, ok := before.Spec.Template.Labels[label]; ok {
			if job.Spec.Template.Labels == nil {
				job.Spec.Template.Labels = map[string]string{}
			}
			job.Spec.Template.Labels[label] = value
		}
	}
}
