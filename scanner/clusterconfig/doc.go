// Package clusterconfig finds what files of a repository configure for the API servers of its clusters: the
// Kubernetes version, feature gates, and the APIs of --runtime-config. Verdicts do not depend on it, since it is
// not known which objects such a file is about. A scan reports where a file differs from the API server that is
// imitated.
//
//   - find.go walks a tree and reads files that may configure API servers, including
//     templates of Jinja and similar languages, without the values that a template inserts;
//   - files.go has a table of the known files and fields: Talos, talhelper, Omni, kubeadm, Cluster API, kOps,
//     eksctl, Gardener, k0sctl, Kubespray, and the upgrade controllers of Rancher and tuppr;
//   - settings.go reads the values.
package clusterconfig
