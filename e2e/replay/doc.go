// Package replay replays suites on a real API server and records its answers.
//
// [Recorder.Record] creates the objects of a suite through the setup server of a
// live.Cluster, waits with a probe until the server under test uses them, sends each
// request as a dry run, and undoes all changes. The answers become the expected.yaml of
// the suite.
package replay
