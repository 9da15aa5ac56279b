package controllers

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/storage/names"
	"k8s.io/kubernetes/pkg/controller"

	"github.com/preadmit/preadmit/scanner/admission"
)

// jobOf returns the Job of a CronJob that is due, like getJobFromTemplate2
// (k8s.io/kubernetes/pkg/controller/cronjob/utils.go). The time is in UTC whatever spec.timeZone is,
// since the known zones differ from machine to machine.
func jobOf(cj *batchv1.CronJob) (*Generated, error) {
	if cj.Spec.Suspend != nil && *cj.Spec.Suspend {
		return nil, nil
	}
	due := admission.Created().UTC()
	annotations := map[string]string{}
	maps.Copy(annotations, cj.Spec.JobTemplate.Annotations)
	annotations[batchv1.CronJobScheduledTimestampAnnotation] = due.Format(time.RFC3339)
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("%s-%d", cj.Name, due.Unix()/60), Namespace: cj.Namespace,
			Labels: maps.Clone(cj.Spec.JobTemplate.Labels), Annotations: annotations,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(cj, batchv1.SchemeGroupVersion.WithKind("CronJob"))},
		},
		Spec: *cj.Spec.JobTemplate.Spec.DeepCopy(),
	}
	return newGenerated(job, batchv1.SchemeGroupVersion.WithKind("Job"), "cronjob-controller", []move{
		{"metadata.name", "metadata.name"},
		{"metadata.namespace", "metadata.namespace"},
		{"metadata", "spec.jobTemplate.metadata"},
		{"spec", "spec.jobTemplate.spec"},
	})
}

// jobPodOf returns the first Pod of a Job (k8s.io/kubernetes/pkg/controller/job/job_controller.go,
// manageJob).
func jobPodOf(job *batchv1.Job) (*Generated, error) {
	if !isActive(job) {
		return nil, nil
	}
	template := job.Spec.Template.DeepCopy()
	if !slices.Contains(template.Finalizers, batchv1.JobTrackingFinalizer) {
		template.Finalizers = append(template.Finalizers, batchv1.JobTrackingFinalizer)
	}
	indexed := job.Spec.CompletionMode != nil && *job.Spec.CompletionMode == batchv1.IndexedCompletion
	if indexed {
		indexTemplate(template, job)
	}
	pod, err := controller.GetPodFromTemplate(template, job, metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job")))
	if err != nil {
		return nil, fmt.Errorf("make a Pod of Job %s: %w", job.Name, err)
	}
	if indexed {
		pod.GenerateName = indexedName(job.Name)
	}
	return newGeneratedPod(pod, job, "job-controller", templateMoves())
}

// isActive reports whether Kubernetes' own controller starts Pods for a new Job.
func isActive(job *batchv1.Job) bool {
	spec := &job.Spec
	none := func(n *int32) bool { return n != nil && *n == 0 }
	return !(spec.Suspend != nil && *spec.Suspend) && !none(spec.Parallelism) && !none(spec.Completions) &&
		(spec.ManagedBy == nil || *spec.ManagedBy == batchv1.JobControllerName)
}

// firstIndex is the completion index of the first Pod of an indexed Job.
const firstIndex = "0"

// indexTemplate adds the index to a Pod of an indexed Job
// (k8s.io/kubernetes/pkg/controller/job/indexed_job_utils.go).
func indexTemplate(template *corev1.PodTemplateSpec, job *batchv1.Job) {
	for _, containers := range [][]corev1.Container{template.Spec.InitContainers, template.Spec.Containers} {
		for i := range containers {
			addIndexVariable(&containers[i])
		}
	}
	for _, m := range []*map[string]string{&template.Labels, &template.Annotations} {
		if *m == nil {
			*m = map[string]string{}
		}
		(*m)[batchv1.JobCompletionIndexAnnotation] = firstIndex
	}
	if job.Spec.BackoffLimitPerIndex != nil {
		template.Annotations[batchv1.JobIndexFailureCountAnnotation] = strconv.Itoa(0)
	}
	template.Spec.Hostname = job.Name + "-" + firstIndex
}

func addIndexVariable(c *corev1.Container) {
	const name = "JOB_COMPLETION_INDEX"
	if slices.ContainsFunc(c.Env, func(v corev1.EnvVar) bool { return v.Name == name }) {
		return
	}
	c.Env = append(c.Env, corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{FieldPath: fmt.Sprintf("metadata.labels['%s']", batchv1.JobCompletionIndexAnnotation)},
	}})
}

// indexedName returns the metadata.generateName of a Pod of an indexed Job.
func indexedName(job string) string {
	suffix := "-" + firstIndex + "-"
	return job[:min(len(job), names.MaxGeneratedNameLength-len(suffix))] + suffix
}
