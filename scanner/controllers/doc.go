// Package controllers returns the objects that the controllers of kube-controller-manager create for
// a stored workload: the ReplicaSet of a Deployment, the Job of a CronJob, the first Pod of the
// others. Kubernetes' own code creates them; this package assembles it.
//
//   - generated.go: Generate, for a request that was allowed.
//   - apps.go, jobs.go: the controllers of the groups apps and batch.
//   - fields.go: the fields of the workload that fields of the created object come from.
package controllers
