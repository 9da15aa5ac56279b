// Package metrics has the Prometheus collectors of the service, in one struct that is created
// once and passed on in parts.
//
// Every consumer takes a pointer to its part; methods of a nil pointer do nothing, so
// that callers without metrics pass nil. Methods are named for events; the package decides how
// these are counted.
//
// Labels have few values: input from outside is counted as "other" unless it is known (see
// label), and no repository is named.
package metrics
