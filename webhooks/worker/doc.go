// Package worker processes jobs of the queue: it reads the state of a pull request from GitHub,
// fetches its commits, scans them in a jail, and publishes the verdict.
//
// A job is a hint, and GitHub's API is the truth: the worker reads the current state before it
// acts, and again before it publishes. Every step may be repeated after a crash, and finds what
// was done already. A job that has ended leaves a completed check run where that is possible,
// a scan record, and, if preadmit failed, a dead letter.
//
// Tokens appear in no log, error or record. Text of repositories and people is stored in records
// unescaped, limited to one line; the pages escape it.
//
// Worker.Run claims jobs from the queue, Concurrency at a time, and makes a task of each.
// What a task does depends on the kind of its job: pull, group and push scan; command,
// resolve and installation look up what to scan and enqueue that; forget removes records.
// A scan has these steps: read the state from GitHub (pullstate), show a check run in
// progress (begin), fetch the commits into a directory of the process (commits, workdir),
// scan them (scan), store the report, read the state again, and publish (publish). The task's
// error and the cause that ended its context decide its end (failure), and settle completes it:
// done, retried, postponed, released, superseded, failed.
//
// A check run belongs to a commit, which may be the head of several pull requests: the check run
// shows the worst of their verdicts, and the other pull requests are judged again when a verdict
// changes (sharedhead).
package worker
