// Package release checks the configuration of releases against GoReleaser's own types, as
// strictly as `goreleaser check` does. Workflows run the program itself, which takes minutes
// to compile; this takes seconds. It is a module of its own, so that no other module requires
// GoReleaser.
package release
