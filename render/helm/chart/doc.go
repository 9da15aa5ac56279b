// Package chart reads Helm charts, from archives and from read-only trees, with all that is in
// their charts/ directories.
//
// Helm's own loader reads directories, following links out of them, and archives within archives
// without end. Here a chart is its files in memory, archives of dependencies are taken apart within
// one limit for the whole chart, and only then Helm's loader makes a chart of them.
package chart
