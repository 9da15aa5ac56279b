// Package action is preadmit action, the command of the GitHub Action: a scan between two
// translations.
//
// runner.go reads the environment and the event file of a runner; trigger.go turns the event
// into commits to compare, commits.go gets those that the checkout does not have. Then the
// scan runs. report.go makes the SARIF and writes files, the step's summary, workflow commands
// and outputs; publish.go writes a check run and a comment and uploads the SARIF, as far as the
// token may. republish.go
// publishes the report of another run, for workflow_run. The tests run the command, in
// package main.
package action
