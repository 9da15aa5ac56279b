// Package padding serves kustomize the files of a build with every YAML document moved to a range of lines of
// its own. A node that kustomize keeps has its line afterwards, which shows its document and file:
// [Padder.Find] returns the [Range] of a line, [Range.Node] the node in the file.
//
// A [Padder] can also leave things out of the build ([Elision]), for builds that show an object as it was
// before a change.
package padding
