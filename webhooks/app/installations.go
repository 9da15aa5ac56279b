package app

import (
	"context"
	"fmt"

	"github.com/google/go-github/v62/github"
)

// Installations returns all installations of the App, also suspended ones.
func (a *App) Installations(ctx context.Context) ([]*github.Installation, error) {
	var all []*github.Installation
	for page := 1; page != 0; {
		list, resp, err := a.self.Apps.ListInstallations(ctx, &github.ListOptions{Page: page, PerPage: 100})
		if err != nil {
			return nil, a.explain("list the App's installations", err)
		}
		all, page = append(all, list...), resp.NextPage
	}
	return all, nil
}

// Repositories returns all repositories that an installation grants the App access to.
func (a *App) Repositories(ctx context.Context, installation int64) ([]*github.Repository, error) {
	client, err := a.Installation(ctx, installation)
	if err != nil {
		return nil, err
	}
	var all []*github.Repository
	for page := 1; page != 0; {
		list, resp, err := client.Apps.ListRepos(ctx, &github.ListOptions{Page: page, PerPage: 100})
		if err != nil {
			return nil, a.explain(fmt.Sprintf("list the repositories of installation %d", installation), err)
		}
		all, page = append(all, list.Repositories...), resp.NextPage
	}
	return all, nil
}

// InstallationOf returns the installation that a repository belongs to, and the
// repository's ID. Its error is ErrGone when the App is not installed there.
func (a *App) InstallationOf(ctx context.Context, owner, repo string) (installation, repositoryID int64, err error) {
	doing := fmt.Sprintf("find the installation of %s/%s", line(owner), line(repo))
	found, _, err := a.self.Apps.FindRepositoryInstallation(ctx, owner, repo)
	if err != nil {
		return 0, 0, a.explain(doing, err)
	}
	client, err := a.Installation(ctx, found.GetID())
	if err != nil {
		return 0, 0, err
	}
	r, _, err := client.Repositories.Get(ctx, owner, repo)
	if err != nil {
		return 0, 0, a.explain(doing, err)
	}
	return found.GetID(), r.GetID(), nil
}
