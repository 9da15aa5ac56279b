// Package chart renders the Helm chart in deploy/chart with Helm's own code.
//
// The rendered manifests are stored in deploy/testdata/chart, where preadmit judges them
// without Helm. It is a module of its own, so that no other module requires Helm.
package chart
