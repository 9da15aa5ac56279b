package cli

import "runtime/debug"

// Version returns the version of preadmit, which the Go command adds to the binary: a tag,
// a pseudo-version of a commit, or "devel".
func Version() string {
	info, _ := debug.ReadBuildInfo()
	if info == nil || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}
