package artifact

import (
	"fmt"
	"io/fs"
)

// Contents returns the contents of fetched artifacts. It is safe for concurrent use. The error for a missing artifact
// is a *MissingError.
type Contents interface {
	// Tree returns the files of an artifact of the kinds Git and OCI; without submodules.
	Tree(Artifact) (fs.FS, Pin, error)
	// Bytes returns the content of an artifact of the kinds File (the file) and Chart (the
	// archive).
	Bytes(Artifact) ([]byte, Pin, error)
	// Artifacts returns all artifacts that are present or should be.
	Artifacts() []Artifact
}

// MissingError is the error of a missing artifact.
type MissingError struct {
	Artifact Artifact
	// Why is a short reason why it is missing.
	Why string
	// Hint says how to get it; may be empty.
	Hint string
}

func (e *MissingError) Error() string {
	text := fmt.Sprintf("%s is not there: %s", e.Artifact, e.Why)
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}
