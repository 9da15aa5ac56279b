package artifact

import (
	"fmt"
	"io/fs"
)

// Contents returns the contents of artifacts that were fetched before. It is safe for
// concurrent use. What is not there is a *MissingError.
type Contents interface {
	// Tree returns the files of an artifact of the kinds Git and OCI; without submodules.
	Tree(Artifact) (fs.FS, Pin, error)
	// Bytes returns the content of an artifact of the kinds File (the file) and Chart (the
	// archive).
	Bytes(Artifact) ([]byte, Pin, error)
	// Artifacts are all that are there, or should be.
	Artifacts() []Artifact
}

// MissingError says that an artifact is not there.
type MissingError struct {
	Artifact Artifact
	// Why says why it is not there, in a few words.
	Why string
	// Hint says how to get it, if anything does.
	Hint string
}

func (e *MissingError) Error() string {
	text := fmt.Sprintf("%s is not there: %s", e.Artifact, e.Why)
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}
