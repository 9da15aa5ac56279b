package github

import (
	"context"

	"github.com/google/go-github/v62/github"
)

// MaxFiles is the maximum number of files of a pull request that GitHub lists.
const MaxFiles = 3000

const pageSize = 100

// files returns the set of changed paths that a pull request has at its head, as far as
// GitHub lists them. all is false if there may be more.
func (p *Publisher) files(ctx context.Context) (out map[string]bool, all bool, err error) {
	doing := attempt{"list the files of the pull request", "pull-requests: read"}
	out = map[string]bool{}
	listed := 0
	err = pages(func(page github.ListOptions) (*github.Response, error) {
		list, resp, err := p.api.PullRequests.ListFiles(ctx, p.target.Owner, p.target.Repo, p.target.Pull, &page)
		listed += len(list)
		for _, f := range list {
			if f.GetStatus() != "removed" {
				out[f.GetFilename()] = true
			}
		}
		return resp, err
	})
	return out, listed < MaxFiles, doing.fail(err)
}

// pages calls get for each page of a list.
func pages(get func(github.ListOptions) (*github.Response, error)) error {
	page := github.ListOptions{PerPage: pageSize}
	for {
		resp, err := get(page)
		if err != nil {
			return err
		}
		if resp.NextPage <= page.Page { // 0 at the end
			return nil
		}
		page.Page = resp.NextPage
	}
}
