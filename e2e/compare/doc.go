// Compare runs two builds of preadmit on the same inputs and lists every difference in
// their output, except durations and versions. It is for changes that must not change
// behaviour.
//
// Usage:
//
//	compare -old FILE -new FILE [-match REGEXP] [-whole] [-results DIR] DIR...
//
// A DIR may hold, at any depth:
//
//   - scenarios: a directory with head and, for a change, base;
//   - suites: a directory with requests.yaml;
//   - git bundles with branches NAME-base and NAME-head, or base and head.
//
// Scenarios and pull requests are scanned in every format; each root of a
// scenario's head is also rendered with the origin of every field. -whole also
// scans the whole tree of each head without a base. -results stores the results of the
// old program for the next comparison.
//
// The exit code is 0 when nothing differs, 1 when something differs, and 2 when the
// comparison could not be completed.
package main
