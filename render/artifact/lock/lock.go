package lock

import (
	"cmp"
	"slices"

	"github.com/preadmit/preadmit/render/artifact"
)

// FileName is the name of the lock at the top of a repository.
const FileName = "preadmit.lock"

const (
	// APIVersion is the apiVersion of the file.
	APIVersion = "preadmit.dev/v1alpha1"
	// Kind is the kind of the file.
	Kind = "ArtifactLock"
)

// maxEntries is the maximum number of entries of a file.
const maxEntries = 10_000

// Lock maps artifacts to pins. The zero value is empty. It is not safe for concurrent use while it is changed.
type Lock struct {
	pins map[artifact.Artifact]artifact.Pin
}

// Find returns the pin of an artifact. A nil lock is empty.
func (l *Lock) Find(a artifact.Artifact) (artifact.Pin, bool) {
	if l == nil {
		return artifact.Pin{}, false
	}
	pin, ok := l.pins[a]
	return pin, ok
}

// Set sets the pin of an artifact.
func (l *Lock) Set(a artifact.Artifact, pin artifact.Pin) {
	if l.pins == nil {
		l.pins = map[artifact.Artifact]artifact.Pin{}
	}
	l.pins[a] = pin
}

// Artifacts returns all artifacts, sorted.
func (l *Lock) Artifacts() []artifact.Artifact {
	if l == nil {
		return nil
	}
	all := make([]artifact.Artifact, 0, len(l.pins))
	for a := range l.pins {
		all = append(all, a)
	}
	slices.SortFunc(all, artifact.Artifact.Compare)
	return all
}

// Keep removes all artifacts for which keep returns false.
func (l *Lock) Keep(keep func(artifact.Artifact) bool) {
	for a := range l.pins {
		if !keep(a) {
			delete(l.pins, a)
		}
	}
}

// Digests returns the digests of all pins, sorted, without duplicates.
func (l *Lock) Digests() []string {
	var out []string
	if l != nil {
		for _, pin := range l.pins {
			out = append(out, pin.Digest)
		}
	}
	slices.SortFunc(out, cmp.Compare)
	return slices.Compact(out)
}
