// Package action is preadmit action, the command of the GitHub Action: a scan between two
// translations.
//
// runner.go reads the environment and the event file of a runner; trigger.go turns the event
// into commits to compare, commits.go gets those that the checkout does not have. Then the
// scan runs. report.go writes files, the step's summary, workflow commands and outputs, and
// publish.go a check run, a comment and SARIF, as far as the token may. republish.go
// publishes the report of another run, for workflow_run. The tests run the command, in
// package main.
package action
