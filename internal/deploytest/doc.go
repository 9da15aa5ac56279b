// Package deploytest has what tests of the directory deploy need: every way to deploy preadmit,
// and the objects that each renders to.
//
// The tests in deploy look at what is deployed and at the service's settings; those that ask
// what an API server says to it are in package scanner, so that deploy links no Kubernetes.
package deploytest
