// Command preadmit predicts how a cluster's API server will answer to a change of a GitOps
// repository, without a cluster.
//
// [Main] is the whole command: it takes the arguments and a [cli.Process], which has the
// streams and the environment, and returns the exit code. It does not exit the process, so
// that tests can call it; main.go connects it with the real process and its signals.
//
// Each subcommand has a constructor newNAMECommand in NAME.go. It merges its flags with the
// repository's .preadmit.yaml, opens the trees, calls the packages below and writes the
// report. Code that commands share is in internal/cli (process, exit codes, outputs) and
// internal/scan (flags of scan, trees, configuration); internal/action is the GitHub Action.
// child.go and jailed.go have the hidden commands that the program runs in child processes.
package main
