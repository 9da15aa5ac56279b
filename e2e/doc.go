// Conformance replays suites on a real kube-apiserver. It compares the server's
// current answers with the recorded ones, and preadmit's answers with both.
//
// Usage:
//
//	conformance -preadmit FILE [-apiserver FILE] [-update] [-objects DIR]... [-updates N [-seed NUMBER] [-others]] [SUITE...]
//
// The exit code is 0 when everything agrees, 1 when something differs, and 2 when
// the comparison could not be completed.
package main
