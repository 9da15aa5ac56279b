// Package scan is what the commands that judge have in common: the flags of preadmit scan,
// and what they name.
//
// [Flags] has the flags; lint, diff, render, report and action use some of them. [Open] opens
// the two trees to compare, a [Change], [LoadConfig] reads the configuration in force,
// [OpenExtras] opens --policies and --context, and [Judge] does all that a scan does between
// its flags and its report. The tests run the commands, in package main.
package scan
