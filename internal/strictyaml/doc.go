// Package strictyaml reads YAML files that people write by hand, and reports every
// mistake in them with file, line, column and field.
//
// Parse reads a file of one document, ParseAll one of several. A Document is then
// decoded into a struct by its json tags, in one of two ways:
//
//   - Decode is for settings. Aliases are rejected, and a plain word such as "on" is a
//     string where the struct has a string.
//   - DecodeManifest is for files with Kubernetes objects. Values are those that kubectl
//     would send: YAML 1.1 converted to JSON, with aliases and merge keys. The exception is a
//     plain y or n, which is a string as in kustomize and most parsers of YAML 1.1; only
//     kubectl reads it as a boolean.
//
// Both reject unknown keys, repeated keys and values of the wrong type. All mistakes
// of a document are collected and returned together, in the order of the file.
//
// A Document keeps the position of every field, so that the caller can check values
// after decoding: Fail records a mistake at a field, and Err returns the recorded mistakes.
// Fields are named by their path from the top of the document: targets[0].name.
//
// The package limits aliases (an alias that contains itself or expands too often is an
// error), not the size of a file: callers have to limit the size of files from untrusted sources.
package strictyaml
