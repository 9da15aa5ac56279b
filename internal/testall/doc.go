// Package testall selects the tests of a run.
//
// `make test` runs the tests that a change needs, in minutes. Tests that take longer -
// real repositories, hundreds of generated cases, processes that are killed,
// clusters of servers - call [Long] and run with `make test-all`, which sets
// PREADMIT_TEST_ALL=1. Tests with generated cases get their number from [Count], and tests
// with long lists get a part of the list from [Sample], so that some cases run each time.
package testall
