// Package strictyaml reads YAML files that people write by hand, and reports every
// mistake in them with file, line, column and field.
//
// Parse reads a file of one document, ParseAll one of several. A Document is then
// decoded into a struct by its json tags, in one of two ways:
//
//   - Decode is for settings. Aliases are refused, and a plain word such as "on" is a
//     string where the struct has a string.
//   - DecodeManifest is for files that hold Kubernetes objects. Values are those that
//     kubectl would send: YAML 1.1 by way of JSON, with aliases and merge keys. Only a plain
//     y or n is a string, as most parsers of YAML 1.1 and kustomize read it, and a boolean
//     for kubectl alone.
//
// Both refuse unknown keys, repeated keys and values of the wrong type. All mistakes
// of a document are collected and returned together, in the order of the file.
//
// A Document keeps the position of every field, so that the caller can check values
// after decoding: Fail records a mistake at a field, and Err returns what was recorded.
// Fields are named by their path from the top of the document: targets[0].name.
//
// The package bounds aliases (an alias that contains itself or expands too often is an
// error), not the size of a file: a caller that reads a file from a source that is not trusted
// bounds it before.
package strictyaml
