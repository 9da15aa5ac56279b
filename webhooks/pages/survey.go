package pages

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/webhooks/queue"
)

const (
	// asksAtOnce is the number of repositories whose rights are requested from GitHub concurrently.
	asksAtOnce = 8
	// githubTimeoutEach is the timeout for one of them, since the others wait for it.
	githubTimeoutEach = 4 * time.Second
)

// survey collects what a viewer may do with the repositories of a list. If GitHub does not answer
// for one, its scans are left out, and the list names it.
type survey struct {
	p     *Pages
	v     *viewer
	known map[int64]right
	// unchecked has one scan of each repository for which GitHub did not answer, and why is
	// the last error.
	unchecked []queue.Scan
	why       error
}

func (p *Pages) newSurvey(v *viewer) *survey {
	return &survey{p: p, v: v, known: map[int64]right{}}
}

func (a *survey) knows(s queue.Scan) bool {
	_, ok := a.known[s.Repository]
	return ok
}

// ahead requests, if it is unknown, what the viewer may do with the repository of the first scan,
// and concurrently with those of the next scans.
func (a *survey) ahead(ctx context.Context, scans []queue.Scan) error {
	if a.knows(scans[0]) {
		return nil
	}
	next := a.next(scans)
	answers, failures := make([]right, len(next)), make([]error, len(next))
	var group errgroup.Group
	for i, s := range next {
		group.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, githubTimeoutEach)
			defer cancel()
			answers[i], failures[i] = a.p.right(ctx, a.v, s)
			return nil
		})
	}
	_ = group.Wait() // failures has the errors
	for i, s := range next {
		if err := failures[i]; errors.Is(err, errGitHub) {
			a.unchecked, a.why = append(a.unchecked, s), err
		} else if err != nil {
			return err
		}
		a.known[s.Repository] = answers[i]
	}
	return nil
}

// next returns the first scan of each repository whose rights are requested next.
func (a *survey) next(scans []queue.Scan) []queue.Scan {
	var next []queue.Scan
	for _, s := range scans {
		same := func(other queue.Scan) bool { return other.Repository == s.Repository }
		if a.knows(s) || slices.ContainsFunc(next, same) {
			continue
		}
		if next = append(next, s); len(next) == asksAtOnce {
			break
		}
	}
	return next
}

// addNotice sets the notice about unchecked repositories. It names those that the viewer could read when
// GitHub answered last, and does not reveal how many others there are. If none could be checked,
// it returns the error.
func (a *survey) addNotice(list *listView) error {
	if len(a.unchecked) == 0 {
		return nil
	}
	if len(a.unchecked) == len(a.known) {
		return a.why
	}
	var names []string
	for _, s := range a.unchecked {
		if a.p.rights.last(keyOf(a.v, s.Repository)) >= mayRead {
			names = append(names, escape.Line(s.Owner+"/"+s.Repo))
		}
	}
	slices.Sort(names)
	if len(names) < len(a.unchecked) {
		names = append(names, "some repositories")
	}
	if last := len(names) - 1; last > 0 {
		names = []string{strings.Join(names[:last], ", ") + " and " + names[last]}
	}
	list.Unchecked = "Your access to " + names[0] + " could not be checked with GitHub."
	list.Empty = "There are no scans of repositories that you are known to read."
	a.p.config.Log.Warn("a list lacks repositories whose access could not be checked", "repositories", len(a.unchecked), "error", a.why)
	return nil
}
