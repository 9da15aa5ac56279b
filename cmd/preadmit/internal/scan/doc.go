// Package scan has the code that commands that judge share: the flags of preadmit scan, and
// opening what they name.
//
// [Flags] has the flags; lint, diff, render, report and action use some of them. [Open] opens
// the two trees to compare, a [Change], [LoadConfig] reads the configuration in force,
// [OpenExtras] opens --policies and --context, and [Judge] runs the scan and returns the
// report. The tests run the commands, in package main.
package scan
