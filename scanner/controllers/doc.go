// Package controllers makes what the controllers of kube-controller-manager create for a
// workload once it is stored: the ReplicaSet of a Deployment, the Job of a CronJob, the
// first Pod of the others. Kubernetes' own code does it; this package assembles it.
//
//   - generated.go: Generate, for a request that was granted.
//   - apps.go, jobs.go: the controllers of the groups apps and batch.
//   - fields.go: where in the workload a field of what it creates was written.
package controllers
