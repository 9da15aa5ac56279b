// Package padding serves kustomize the files of a build with every YAML document moved to a
// range of lines of its own. The line of a node survives kustomize wherever the node itself
// does, so it shows afterwards which document of which file the node comes from: [Padder.Find]
// returns the [Range] of a line, [Range.Node] what is written there.
//
// A [Padder] can leave things out of the build as well ([Elision]), for builds that tell what
// an object was like before something was done to it.
package padding
