// Package clusterconfig finds what the files of a repository configure for the API servers of its clusters: their
// version of Kubernetes, their feature gates, and the APIs that --runtime-config switches on or off. Verdicts
// do not go by it, since which objects such a file is about is not known: a scan says where it differs from
// the API server that is imitated.
//
//   - find.go walks a tree and reads files that may say something, also those that are templates of Jinja or
//     the like, without what a template fills in;
//   - files.go has a table of the files and fields that are known: Talos, talhelper, kubeadm, Cluster API, kOps,
//     eksctl, Gardener, k0sctl, Kubespray, and the upgrade controllers of Rancher and tuppr;
//   - settings.go reads the values.
package clusterconfig
