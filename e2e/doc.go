// Conformance replays suites on a real kube-apiserver and compares: what the
// server answers now with what is recorded, and preadmit's answers with both.
//
// Usage:
//
//	conformance -preadmit FILE [-apiserver FILE] [-update] [-objects DIR]... [-updates N [-seed NUMBER] [-others]] [SUITE...]
//
// It ends with 0 when everything agrees, with 1 when something differs, and with 2
// when it could not be compared.
package main
