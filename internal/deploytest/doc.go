// Package deploytest has what tests of the directory deploy need: every way to deploy preadmit,
// and the objects that each renders to.
//
// The tests in deploy check what is deployed and the service's settings; those that check the
// API server's answers to it are in package scanner, so that deploy links no Kubernetes.
package deploytest
