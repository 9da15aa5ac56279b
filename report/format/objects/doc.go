// Package objects writes rendered objects as YAML, with the origin of each line, for
// preadmit render. It is no format of a report, as it needs package render.
package objects
