// Package tree reads files of a repository within limits, for all sources of objects.
//
// A Tree wraps an fs.FS and caches immutable results: the resolution of paths with symbolic links (Resolve), git's name
// of the content of a file (Identity), and the words that a file mentions (Mentions). Load reads a file, refuses it if
// it exceeds the Limits after YAML aliases are expanded, and records it in a Trace. With a Trace one can check whether
// another tree gives the same result.
//
// Manifest files are split into documents and decoded as kubectl does, once for each content (DecodeManifest). Trees
// that are Beside each other share these results.
package tree
