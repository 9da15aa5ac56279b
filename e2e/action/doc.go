// Package action runs the Action in the workflows of its documentation, with nektos/act,
// against a fake GitHub and a git server on the loopback interface. `make action-test`
// builds what it needs and runs it.
package action
