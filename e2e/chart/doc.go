// Package chart renders the Helm chart in deploy/chart with Helm's own code.
//
// What it renders is kept in deploy/testdata/chart, where preadmit judges it without
// Helm. It is a module of its own, so that no other module requires Helm.
package chart
