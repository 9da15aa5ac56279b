// Package diff compares the rendered objects of the two trees of a change.
//
// Objects pairs the objects of each root as a scan does, and returns a unified diff of those that
// differ, as YAML with sorted keys. Limits bound the result; what exceeds them is counted. Values
// of Secrets are masked, and the masks show whether they differ.
package diff
