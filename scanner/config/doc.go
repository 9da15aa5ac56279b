// Package config reads .preadmit.yaml, the configuration of a scan at the top of a
// repository.
//
// Load reads the file of the base, because a pull request must not change its own
// rules, and reports a change to it as diagnostics. Parse decodes one file with
// internal/strictyaml and then checks its values (check.go), so that every mistake is an
// error at its line: a setting that is ignored would leave a gate open.
//
// A new field is added to the struct Config, to docs/config.md and to
// docs/config.schema.json; tests compare the three. A field with rules of its own is
// checked in check.go.
//
// MatchGlob matches the globs by which a configuration chooses roots.
package config
