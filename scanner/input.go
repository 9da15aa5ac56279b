package scanner

import (
	"io/fs"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/diff"
	"github.com/preadmit/preadmit/scanner/policy/settled"
)

// Input is what a scan works on. Scan reads nothing else: no network, no clock
// but for durations, no environment.
type Input struct {
	// Base is nil to judge every object of Head as CREATE.
	Base *Tree
	Head Tree
	// Config is the base's configuration with the flags applied.
	Config config.Config
	// Remotes are URLs of the repository, by which sources of deployers are known to be it.
	Remotes []string
	// Extra are objects given beside the trees (--policies, --context), part of the
	// cluster state at base and at head, never judged themselves.
	Extra []Extra
	// Render steers rendering.
	Render render.Options
	// Version is preadmit's own, for the report.
	Version string
	// Diff, when set, makes a scan fill in the report's Changes. Without a base there are none.
	Diff *diff.Limits
	// Part makes a scan judge only the targets of the release of Kubernetes that the process
	// imitates. Without it targets of another release are an *InputError.
	Part bool
	// Answers, when set, are where objects are written, and Settled which policies have no finding about them, for
	// scans of other releases of the same trees, one after the other.
	Answers *origin.Answers
	Settled *settled.Evaluations
	// Capture says what of requests is in the report.
	Capture Capture
	// Workers bounds parallelism; 0 means GOMAXPROCS.
	Workers int
	// Progress, when set, is called as work is done; it may be called from several
	// goroutines.
	Progress func(stage string, done, total int)
	// Rendering, when set, is called when a root begins to be rendered, or is worked on
	// alone, and what it returns when that is over: a caller whose process a scan
	// may end learns which root did. The tree is "base", "head" or the Name of
	// an Extra. It may be called from several goroutines.
	Rendering func(root, tree string) (done func())
	// Judging, when set, is called when the requests about an object begin to be judged,
	// with its operation and name, and what it returns when that is over. It may be
	// called from several goroutines.
	Judging func(request string) (done func())
	// Refused are paths of roots that are not rendered, each with the reason. What they
	// hold is not known, so the scan is incomplete and never passes.
	Refused map[string]string
}

// Tree is one side of a change.
type Tree struct {
	FS       fs.FS
	Revision report.Revision
	// Under restricts the scan to roots at or below these directories, and to the objects
	// that are written in these files, as the roots that read them render them, or by themselves
	// if none does; none for all. What may judge them is looked for in the whole tree.
	Under []string
	// Named is set when somebody asked for these by their names, so that it is a mistake if there
	// is nothing to judge at all.
	Named bool
}

// Extra is a file or directory given beside the trees.
type Extra struct {
	// Name is the path as the user gave it, for locations and messages.
	Name string
	FS   fs.FS
	// Policies is set when it was given as policies.
	Policies bool
}
