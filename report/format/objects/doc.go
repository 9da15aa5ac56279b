// Package objects writes rendered objects as YAML, with where each line was written,
// for preadmit render. It is no format of a report: it needs package render.
package objects
