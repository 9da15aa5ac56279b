// Package config reads .preadmit.yaml, the configuration of a scan at the top of a repository.
//
// Load reads the file of the base, because a pull request must not change its own rules, and
// reports changes to the file as diagnostics. Parse decodes a file with internal/strictyaml and
// then checks its values (check.go), so that every mistake is an error at its line: an ignored
// setting could let changes pass.
//
// A new field is added to the struct Config, to docs/config.md and to docs/config.schema.json;
// tests compare the three. Values that need more than decoding are checked in check.go.
//
// MatchGlob matches the globs with which a configuration selects roots.
package config
