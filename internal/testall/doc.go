// Package testall says which tests a run has.
//
// `make test` runs what a change needs, in minutes. Tests that take longer -
// real repositories, hundreds of generated cases, processes that are killed,
// clusters of servers - call [Long] and run with `make test-all`, which sets
// PREADMIT_TEST_ALL=1. A test that generates its cases takes their number from
// [Count], one that goes through a long list takes it from [Sample]: some run each time.
package testall
