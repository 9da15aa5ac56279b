// Package chart renders the Helm chart in deploy/chart with Helm's own code.
//
// What it renders is kept in deploy/testdata/chart, where preadmit judges it without
// Helm. It is a module of its own, so that Helm's requirements are nobody else's.
package chart
