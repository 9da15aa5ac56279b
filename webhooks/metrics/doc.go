// Package metrics holds the Prometheus collectors of the service, in one struct that is
// made once and handed out in parts.
//
// Every consumer takes a pointer to its part; methods of a nil pointer do nothing, so
// that callers that need no metrics pass none. Methods say what happened, and the package
// decides how it is counted.
//
// Labels take few values: what comes from outside is counted under "other" unless it is
// known (see label), and nobody's repository is named.
package metrics
