// Package diff compares the rendered objects of the two trees of a change.
//
// Objects pairs the objects of each root as a scan does, and writes those that differ as
// YAML with sorted keys, of which a unified diff is taken. Limits bound the result: what is
// left out is counted. Values of Secrets are masked, and say on which side they differ.
package diff
