// Package release holds the configuration of releases to GoReleaser's own types, read as
// strictly as `goreleaser check` reads it. Workflows run the program itself, which takes
// minutes to compile; this takes seconds. It is a module of its own, so that no other module
// requires GoReleaser.
package release
