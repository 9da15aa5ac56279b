// Command preadmit says what a cluster's API server will answer to a change of a GitOps
// repository, without a cluster.
//
// [Main] is the whole command: it takes the arguments and a [cli.Process], which has the
// streams and the environment, and returns the exit code. It never ends the process, so
// tests run it as it is; main.go connects it with the real process and its signals.
//
// Each subcommand is a constructor newNAMECommand in NAME.go: flags become a configuration
// on top of the repository's .preadmit.yaml, trees are opened, the packages below do the
// work, and the report is written. What commands share is in internal/cli (process, exit
// codes, outputs) and internal/scan (flags of scan, trees, configuration); internal/action is
// the GitHub Action. child.go and jailed.go are the hidden commands that the program starts
// itself with, for a process of its own.
package main
