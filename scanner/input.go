package scanner

import (
	"io/fs"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission/decoded"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/diff"
	"github.com/preadmit/preadmit/scanner/policy/settled"
)

// Input is the input of a scan. Scan reads nothing else: it uses no network, no environment, and the clock only
// for durations.
type Input struct {
	// Base is nil to judge every object of Head as CREATE.
	Base *Tree
	Head Tree
	// Config is the base's configuration with the flags applied.
	Config config.Config
	// Remotes are URLs of the repository; a deployer's source with one of them is this repository.
	Remotes []string
	// Extra are objects given in addition to the trees (--policies, --context). They are part of the cluster state
	// at base and at head, and are never judged themselves.
	Extra []Extra
	// Render has the options for rendering.
	Render render.Options
	// Version is the version of preadmit, for the report.
	Version string
	// Diff, if set, adds Changes to the report. Without a base there are none.
	Diff *diff.Limits
	// Part limits the scan to the targets of the Kubernetes release that the process imitates. Without it a target
	// of another release is an *InputError.
	Part bool
	// Answers caches the origins of objects, Decoded the objects of built-in kinds, and Settled the policies without
	// findings about objects. If set, scans of the same trees for other releases, one after the other, reuse them.
	Answers *origin.Answers
	Decoded *decoded.Objects
	Settled *settled.Evaluations
	// Capture determines which details of requests the report contains.
	Capture Capture
	// Workers limits parallelism; 0 means GOMAXPROCS.
	Workers int
	// Progress, if set, is called as work is done, possibly from several goroutines.
	Progress func(stage string, done, total int)
	// Rendering, if set, is called before a root is rendered or processed alone, and the returned function is
	// called afterwards. If the scan crashes or exceeds a limit, the caller can tell which root caused it. The
	// tree is "base", "head" or the Name of an Extra. Calls may come from several goroutines.
	Rendering func(root, tree string) (done func())
	// Judging, if set, is called before the requests about an object are judged, with the operation and name, and
	// the returned function is called afterwards. Calls may come from several goroutines.
	Judging func(request string) (done func())
	// Refused maps paths of roots that are not rendered to the reason. Their content is unknown, so the scan is
	// incomplete and never passes.
	Refused map[string]string
}

// Tree is one side of a change.
type Tree struct {
	FS       fs.FS
	Revision report.Revision
	// Under restricts the scan to roots at or below these directories, and to the objects written in these files:
	// as the roots that read the files render them, or the files alone if no root reads them. Empty means no
	// restriction. Objects that decide verdicts are looked for in the whole tree.
	Under []string
	// Named is set if the user named the paths of Under, so that it is an error if there is nothing to judge.
	Named bool
}

// Extra is a file or directory given in addition to the trees.
type Extra struct {
	// Name is the path as the user gave it, for locations and messages.
	Name string
	FS   fs.FS
	// Policies is set if it was given as policies.
	Policies bool
}
