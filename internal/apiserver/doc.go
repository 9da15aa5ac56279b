// Package apiserver runs a disposable Kubernetes API server on loopback: kube-apiserver's own
// packages and etcd's, in this process, and those controllers without which policies do not
// work as they do in a cluster: namespaces have their `default` ServiceAccount and root CA
// ConfigMap and can be deleted, policies get the warnings of type checking, aggregated
// ClusterRoles get their rules.
//
// Kubernetes has state that belongs to the process: feature gates, metrics, klog. So a process
// runs one server, once.
//
// Nothing of storage, watches, patches or admission is written here. What is here puts the
// parts together: certificates, options, clients.
package apiserver
