// Package live runs real kube-apiservers on the loopback interface: an etcd, a server
// under test, and a second server on the same etcd that evaluates no admission policies.
// The state is written through the second one, so that the policies under test cannot
// refuse it.
package live
