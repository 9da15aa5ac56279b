// Package action is preadmit action, the command of the GitHub Action. It reads the event,
// scans and publishes the report.
//
// runner.go reads the environment and the event file of a runner; trigger.go determines the
// commits to compare from the event, commits.go gets those that the checkout does not have.
// report.go makes the SARIF and writes files, the step's summary, workflow commands and
// outputs; publish.go writes a check run and a comment and uploads the SARIF, as far as the
// token permits. republish.go publishes the report of another run, for workflow_run. The
// tests run the command, in package main.
package action
