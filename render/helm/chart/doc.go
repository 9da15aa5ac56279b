// Package chart reads Helm charts from archives and read-only trees, with everything in their charts/
// directories.
//
// Helm's own loader reads directories, following links out of them, and nested archives without a limit. Here
// a chart is its files in memory; archives of dependencies are unpacked within one limit for the whole chart,
// and only then Helm's loader makes a chart of the files.
package chart
