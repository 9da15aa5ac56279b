package render

import (
	"fmt"
	"os"
	"runtime/debug"
	"sync"
)

// program identifies the code that renders: the versions of all modules and, for a build without a version, the
// executable file.
var program = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return executable()
	}
	id := info.GoVersion + " " + info.Main.Version + " " + info.Main.Sum
	for _, dep := range info.Deps {
		id += " " + dep.Path + "@" + dep.Version
		if dep.Replace != nil {
			return id + executable()
		}
	}
	if revision := committed(info); info.Main.Sum == "" && revision == "" {
		id += executable()
	} else {
		id += revision
	}
	return id
})

// committed returns the commit that a program was built from; empty if it is not known or files were changed.
func committed(info *debug.BuildInfo) string {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if settings["vcs.modified"] != "false" {
		return ""
	}
	return settings["vcs.revision"]
}

// executable identifies the program's file by its size and time.
func executable() string {
	name, err := os.Executable()
	if err != nil {
		return fmt.Sprint(os.Getpid()) // nothing is shared with other processes
	}
	info, err := os.Stat(name)
	if err != nil {
		return fmt.Sprint(os.Getpid())
	}
	return fmt.Sprintf("%s %d %d", name, info.Size(), info.ModTime().UnixNano())
}
