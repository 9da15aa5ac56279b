// Package workflow writes workflow commands of GitHub Actions, which annotate a run:
// https://docs.github.com/actions/reference/workflow-commands-for-github-actions.
package workflow
