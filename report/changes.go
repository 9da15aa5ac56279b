package report

// Changes is what a change changes in the rendered objects, root by root.
type Changes struct {
	// Objects are those that differ, by root and then in the order in which the root
	// renders them, those that are gone last.
	Objects []ObjectChange `json:"objects"`
	// LeftOut counts objects that differ and are not among Objects, because of
	// DiffLimits.
	LeftOut int `json:"leftOut,omitempty"`
}

// ObjectChange is what a change changes in one object of a root.
type ObjectChange struct {
	Root string `json:"root"`
	// Operation is CREATE, UPDATE or DELETE.
	Operation string `json:"operation"`
	Object    Object `json:"object"`
	// Added and Removed count lines of YAML, those that Diff does not show included.
	Added   int `json:"added"`
	Removed int `json:"removed"`
	// Diff is the hunks of a unified diff of the object as YAML with sorted keys. The
	// values of Secrets are masked, those that differ as "*** (before)" and
	// "*** (after)".
	Diff []string `json:"diff,omitempty"`
	// Cut counts the lines left out at the end of Diff.
	Cut int `json:"cut,omitempty"`
	// Omitted says why there is no diff.
	Omitted string `json:"omitted,omitempty"`
}

// DiffKind identifies the wire format of a Comparison.
const DiffKind = "RenderedDiff"

// Comparison is what a change changes in the rendered objects, without a verdict.
type Comparison struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Tool       Tool       `json:"tool"`
	Change     ChangeInfo `json:"change"`
	Changes    Changes    `json:"changes"`
	// Indeterminate are the roots that the change touches and that do not render, so
	// that nothing is known of what it changes in them.
	Indeterminate []Indeterminate `json:"indeterminate"`
	Diagnostics   []Diagnostic    `json:"diagnostics"`
}

// ChartChange is a chart of which a HelmRelease or an Application takes another version than before, with
// what that changes in what it deploys.
type ChartChange struct {
	// Root is the HelmRelease or Application.
	Root  string `json:"root"`
	Chart string `json:"chart"`
	// From and To are the versions, or ranges of some, as they are written.
	From     string   `json:"from"`
	To       string   `json:"to"`
	Location Location `json:"location"`
	// Added, Changed and Removed count the rendered objects.
	Added   int `json:"added"`
	Changed int `json:"changed"`
	Removed int `json:"removed"`
	// Objects are these, but for LeftOut of them.
	Objects []ChartObject `json:"objects"`
	LeftOut int           `json:"leftOut,omitempty"`
	// Unread is set when no policy reads anything that changes: none that matches an object reads a field in which
	// it differs, and none matches one that is added or removed. It is absent where that is not known.
	Unread bool `json:"unread,omitempty"`
}

// What becomes of an object that is rendered.
const (
	ObjectAdded   = "added"
	ObjectChanged = "changed"
	ObjectRemoved = "removed"
)

// ChartObject is an object of which a new version of a chart makes something else.
type ChartObject struct {
	// Change is added, changed or removed.
	Change string `json:"change"`
	Object Object `json:"object"`
}
