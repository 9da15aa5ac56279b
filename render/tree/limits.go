package tree

// Limits bound what rendering a tree may cost. A zero field takes its default.
type Limits struct {
	// FileBytes is the largest file read, in bytes. Default 16 MiB.
	FileBytes int64
	// Nodes is the largest number of YAML nodes of one document with its aliases
	// expanded. Default 1,000,000.
	Nodes int
	// Keys is the largest number of keys of one mapping. Default 10,000: kustomize's
	// time grows with their square. (An API server takes objects of 3 MiB at most.)
	Keys int
	// Documents is the largest number of resources of one root, with repetitions: of YAML
	// documents that it lists as resources, and of ConfigMaps and Secrets that it
	// generates. Default 5,000, for the same reason.
	Documents int
	// Patches bounds how often one root may try a patch or replacement on a resource:
	// the product of both. Default 50,000, which takes kustomize about 40 seconds.
	Patches int
	// Visits is the largest number of kustomization files one root may load.
	// Default 10,000.
	Visits int
}

// LimitError says that a file is larger than Limits.FileBytes.
type LimitError struct {
	Path        string
	size, limit int64
}
