package report

// Changes lists the rendered objects in which a change makes a difference.
type Changes struct {
	// Objects are the objects that differ, by root and then in the order in which the root
	// renders them; removed objects come last.
	Objects []ObjectChange `json:"objects"`
	// LeftOut counts the objects that differ and are not in Objects because of size limits.
	LeftOut int `json:"leftOut,omitempty"`
}

// ObjectChange is the difference in one object of a root.
type ObjectChange struct {
	Root string `json:"root"`
	// Operation is CREATE, UPDATE or DELETE.
	Operation string `json:"operation"`
	Object    Object `json:"object"`
	// Added and Removed count lines of YAML, including those that Diff does not show.
	Added   int `json:"added"`
	Removed int `json:"removed"`
	// Diff is the hunks of a unified diff of the object as YAML with sorted keys. The
	// values of Secrets are masked, those that differ as "*** (before)" and
	// "*** (after)".
	Diff []string `json:"diff,omitempty"`
	// Cut counts the lines left out at the end of Diff.
	Cut int `json:"cut,omitempty"`
	// Omitted is the reason why there is no diff.
	Omitted string `json:"omitted,omitempty"`
}

// DiffKind identifies the wire format of a Comparison.
const DiffKind = "RenderedDiff"

// Comparison is the report of preadmit diff: the differences in the rendered objects,
// without a verdict.
type Comparison struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Tool       Tool       `json:"tool"`
	Change     ChangeInfo `json:"change"`
	Changes    Changes    `json:"changes"`
	// Indeterminate are the roots that the change touches and that do not render, so that
	// their differences are not known.
	Indeterminate []Indeterminate `json:"indeterminate"`
	Diagnostics   []Diagnostic    `json:"diagnostics"`
}

// ChartChange is a new version of a chart in a HelmRelease or an Application, with the
// differences in the objects that it deploys.
type ChartChange struct {
	// Root is the HelmRelease or Application.
	Root  string `json:"root"`
	Chart string `json:"chart"`
	// From and To are the versions or version ranges, as written.
	From     string   `json:"from"`
	To       string   `json:"to"`
	Location Location `json:"location"`
	// Added, Changed and Removed count the rendered objects.
	Added   int `json:"added"`
	Changed int `json:"changed"`
	Removed int `json:"removed"`
	// Objects are these objects, without the LeftOut last ones.
	Objects []ChartObject `json:"objects"`
	LeftOut int           `json:"leftOut,omitempty"`
	// Unread is set when no policy reads anything that changes: no policy that matches a changed
	// object reads a field that differs, and no policy matches an added or removed object. It is
	// absent when this is not known.
	Unread bool `json:"unread,omitempty"`
}

// Values of ChartObject.Change.
const (
	ObjectAdded   = "added"
	ObjectChanged = "changed"
	ObjectRemoved = "removed"
)

// ChartObject is an object that a new version of a chart adds, changes or removes.
type ChartObject struct {
	// Change is added, changed or removed.
	Change string `json:"change"`
	Object Object `json:"object"`
}
