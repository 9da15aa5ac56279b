// Compare runs two builds of preadmit on the same inputs and lists every difference
// in what they print and write, durations and versions aside. It is for changes
// that must not change behaviour.
//
// Usage:
//
//	compare -old FILE -new FILE [-match REGEXP] [-whole] [-results DIR] DIR...
//
// A DIR may hold, at any depth:
//
//   - scenarios: a directory with head, and base if anything was there before;
//   - suites: a directory with requests.yaml;
//   - git bundles with branches NAME-base and NAME-head, or base and head.
//
// Scenarios and pull requests are scanned in every format; each root of a
// scenario's head is also rendered with the origin of every field. -whole also
// scans the whole tree of each head without a base. -results keeps what the old
// program gave, for the next comparison.
//
// It ends with 0 when nothing differs, with 1 when something does, and with 2 when it
// could not compare.
package main
