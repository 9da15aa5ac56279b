package tree

// Limits bound the cost of rendering a tree. A zero field means the default.
type Limits struct {
	// FileBytes is the maximum size of a file, in bytes. Default 16 MiB.
	FileBytes int64
	// Nodes is the maximum number of YAML nodes of one document after its aliases are expanded. Default 1,000,000.
	Nodes int
	// Keys is the maximum number of keys of one mapping. Default 10,000: kustomize's time grows with their square. (An
	// API server accepts objects of up to 3 MiB.)
	Keys int
	// Documents is the maximum number of resources of one root, with repetitions: of YAML documents listed as
	// resources, and of generated ConfigMaps and Secrets. Default 5,000, for the same reason.
	Documents int
	// Patches is the maximum number of attempts to apply patches and replacements of one root: their number multiplied
	// by that of resources. Default 50,000, which takes kustomize about 40 seconds.
	Patches int
	// Visits is the maximum number of kustomization files that one root may load. Default 10,000.
	Visits int
}

// LimitError is the error of a file that is larger than Limits.FileBytes.
type LimitError struct {
	Path        string
	size, limit int64
}
