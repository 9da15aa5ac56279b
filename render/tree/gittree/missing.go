package gittree

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	git "github.com/go-git/go-git/v5"
)

// MissingRevisionError is the error of a revision that is not in the repository. Its message says how to get it.
type MissingRevisionError struct {
	// Revision is the requested revision.
	Revision string
	// Shallow is set when the repository's history is incomplete.
	Shallow bool
	// Begins is set when the commit exists to which ~N and ^N of the revision are applied.
	Begins bool
	// Tracking is the same revision of a remote-tracking branch, for example origin/main~1 for main~1, if the
	// repository has it.
	Tracking string
}

func (e *MissingRevisionError) Error() string {
	if e.Tracking != "" {
		return fmt.Sprintf("revision %q is not in this repository, but %[2]s is: give %[2]s", e.Revision, e.Tracking)
	}
	msg := fmt.Sprintf("revision %q is not in this repository; %s", e.Revision, e.hint())
	if e.Shallow {
		msg += "; the clone is shallow: in GitHub Actions give actions/checkout `fetch-depth: 0`"
	}
	return msg
}

// hint returns the command that fetches the revision.
func (e *MissingRevisionError) hint() string {
	name, steps := splitRevision(e.Revision)
	switch {
	case e.Begins:
		return "fetch more history with " + e.deepen()
	case regexp.MustCompile(`^[0-9a-fA-F]{40}$`).MatchString(name) && steps == "":
		return fmt.Sprintf("fetch it with `git fetch --depth=1 origin %s`", name)
	case regexp.MustCompile(`^[0-9a-fA-F]{7,40}$`).MatchString(name) || name == "HEAD":
		return "fetch more history with " + e.deepen()
	case strings.HasPrefix(name, "origin/"):
		return fmt.Sprintf("fetch it with `git fetch origin %[1]s:refs/remotes/origin/%[1]s`",
			strings.TrimPrefix(name, "origin/"))
	}
	// Without a second name git only sets FETCH_HEAD.
	return fmt.Sprintf("fetch it with `git fetch origin %[1]s:%[1]s`", name)
}

func (e *MissingRevisionError) deepen() string {
	if e.Shallow {
		return "`git fetch --unshallow origin`"
	}
	return "`git fetch origin`"
}

// explainExtension adds an explanation to go-git's refusal of a repository format.
func explainExtension(err error) error {
	if errors.Is(err, git.ErrUnknownExtension) || errors.Is(err, git.ErrUnsupportedRepositoryFormatVersion) ||
		errors.Is(err, git.ErrUnsupportedExtensionRepositoryFormatVersion) {
		return fmt.Errorf("the repository's format is not supported (SHA-1 objects and plain reference files are): %w", err)
	}
	return err
}
