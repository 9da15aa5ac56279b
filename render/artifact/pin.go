package artifact

import (
	"fmt"
	"regexp"
	"sync"
)

// Pin is what an artifact is resolved to. It identifies its content, so that the same bytes can be fetched again.
type Pin struct {
	// Version is the chosen version, tag or branch; empty if there is only the commit or content itself.
	Version string
	// Commit is the object name of a git artifact's commit, in hex.
	Commit string
	// Digest is the digest of the content, as sha256:HEX.
	Digest string
	// Size is the number of bytes of the content.
	Size int64
}

// Check returns an error if the pin is not valid for a kind of artifact.
func (p Pin) Check(kind Kind) error {
	switch {
	case kind == Git && !commitPattern().MatchString(p.Commit):
		return fmt.Errorf("the commit %q is no full object name of git", p.Commit)
	case kind != Git && p.Commit != "":
		return fmt.Errorf("an artifact of kind %s has no commit", kind)
	case !digestPattern().MatchString(p.Digest):
		return fmt.Errorf("the digest %q is not like sha256:HEX", p.Digest)
	case p.Size < 0:
		return fmt.Errorf("the size %d is negative", p.Size)
	}
	return nil
}

var (
	commitPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{40}$`) })
	digestPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^sha256:[0-9a-f]{64}$`) })
)

// IsDigest reports whether a text has the form sha256:HEX.
func IsDigest(text string) bool { return digestPattern().MatchString(text) }

// IsCommit reports whether a text is the full object name of a commit.
func IsCommit(text string) bool { return commitPattern().MatchString(text) }
