// Package conformance runs Kubernetes' own end-to-end tests of policies against the server of
// `preadmit sandbox`.
package conformance
