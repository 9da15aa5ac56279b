// Package action runs the Action in workflows: those of its documentation, under
// nektos/act, against a GitHub and a git server on the loopback interface. `make
// action-test` builds what it needs and runs it.
package action
