// Package tree reads files of a repository within limits, for all sources of objects.
//
// A Tree wraps an fs.FS and keeps what never changes: where paths lead through symbolic
// links (Resolve), what identifies the content of a file (Identity: git's name of it),
// and which words it mentions (Mentions). Load reads a file, refuses what exceeds the
// Limits once YAML aliases are expanded, and notes it in a Trace. A Trace shows whether
// another tree would give the same.
//
// Manifest files are cut into documents and decoded as kubectl does, once for each content
// (DecodeManifest). Trees that are Beside each other share that.
package tree
