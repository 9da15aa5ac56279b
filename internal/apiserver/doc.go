// Package apiserver runs a disposable Kubernetes API server on loopback: the packages of
// kube-apiserver and etcd in this process, and those controllers without which policies do not
// work as in a cluster: namespaces have their `default` ServiceAccount and root CA ConfigMap and
// can be deleted, policies get the warnings of type checking, aggregated ClusterRoles get their
// rules.
//
// Kubernetes has state that belongs to the process: feature gates, metrics, klog. So a process
// runs one server, once.
//
// This package contains no code for storage, watches, patches or admission. It assembles the
// parts: certificates, options, clients.
package apiserver
