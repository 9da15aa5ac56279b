package github

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// Target is where a report is published.
type Target struct {
	// Owner and Repo name the repository.
	Owner, Repo string
	// HeadSHA is the commit that the check run belongs to, as a full object name: the head
	// of the pull request, or the commit that was pushed.
	HeadSHA string
	// Pull is the number of the pull request, 0 when there is none.
	Pull int
	// Ref is the ref that was judged, for code scanning: refs/pull/N/merge,
	// refs/pull/N/head or refs/heads/BRANCH.
	Ref string
	// RefSHA is the commit that Ref pointed at: the merge commit for refs/pull/N/merge.
	// Empty means HeadSHA, which is right for the other refs only.
	RefSHA string
	// DetailsURL is the page with the whole report: the workflow's run, or the service's page.
	DetailsURL string
}

// These are compiled once and never change.
var (
	ownerName  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_-]*$`)
	repoName   = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)
	objectName = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
	pullRef    = regexp.MustCompile(`^refs/pull/[1-9]\d*/(merge|head)$`)
)

func (t *Target) check() error {
	switch {
	case !ownerName.MatchString(t.Owner):
		return fmt.Errorf("the owner %q is no name of a user or organization", t.Owner)
	case !repoName.MatchString(t.Repo) || t.Repo == "." || t.Repo == "..":
		return fmt.Errorf("the repository %q is no name of a repository", t.Repo)
	case !objectName.MatchString(t.HeadSHA):
		return fmt.Errorf("the head commit %q is no full object name", t.HeadSHA)
	case t.RefSHA != "" && !objectName.MatchString(t.RefSHA):
		return fmt.Errorf("the commit %q of the ref is no full object name", t.RefSHA)
	case t.Pull < 0:
		return fmt.Errorf("the pull request %d has no such number", t.Pull)
	case t.Ref != "" && !strings.HasPrefix(t.Ref, "refs/heads/") && !pullRef.MatchString(t.Ref):
		return fmt.Errorf("the ref %q is none of refs/heads/BRANCH, refs/pull/N/merge and refs/pull/N/head", t.Ref)
	case strings.HasPrefix(t.Ref, "refs/pull/") && strings.HasSuffix(t.Ref, "/merge") && t.RefSHA == "":
		return fmt.Errorf("the ref %s needs its commit, which is not the head's", t.Ref)
	}
	return t.checkURL()
}

func (t *Target) checkURL() error {
	if t.DetailsURL == "" {
		return nil
	}
	u, err := url.Parse(t.DetailsURL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return errors.New("the details URL must be one of http or https")
	}
	t.DetailsURL = u.String() // escaped: it is put between < and > in Markdown
	if strings.ContainsAny(t.DetailsURL, "<> \n") {
		return errors.New("the details URL holds characters that no URL has")
	}
	return nil
}

func (t *Target) refSHA() string {
	if t.RefSHA != "" {
		return t.RefSHA
	}
	return t.HeadSHA
}
