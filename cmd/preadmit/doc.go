// Command preadmit says what a cluster's API server will answer to a change of a GitOps
// repository, without a cluster.
//
// [Main] is the whole command: it takes the arguments and a [Process], which has the
// streams and the environment, and returns the exit code. It never ends the process, so
// tests run it as it is; main.go connects it with the real process and its signals.
//
// Each subcommand is a constructor newNAMECommand in NAME.go: flags become a configuration
// on top of the repository's .preadmit.yaml, trees are opened (change.go), the packages
// below do the work, and output.go writes the report. An error carries its exit code
// (exit.go). The files action*.go are the GitHub Action: they turn the runner's event into
// a base and a head, and publish the report. child.go and jailed.go are the hidden
// commands that the program starts itself with, for a process of its own.
package main
