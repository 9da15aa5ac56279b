// Package worker brings jobs of the queue to their end: it asks GitHub how a pull request
// stands, fetches its commits, has them scanned in a jail, and publishes the verdict.
//
// A job is a hint, and GitHub's API is the truth: whatever a delivery said, the worker
// asks what is there before it acts, and once more before it publishes. Every step may
// be done again after a crash, and finds what was done. Whatever ends a job for good
// leaves a completed check run where that is possible, a scan record, and, if preadmit
// failed, a dead letter.
//
// Tokens are in no log, no error and no record. What repositories and people write is in
// records as it is, a line of it, for the pages to escape.
//
// Worker.Run claims jobs from the queue, Concurrency at a time, and makes a task of each.
// What a task does depends on the kind of its job: pull, group and push scan; command,
// resolve and installation look up what to scan and enqueue that; forget drops records.
// A scan is these steps: ask GitHub for the state (pullstate), show a check run in
// progress (begin), fetch the commits into a directory of the process (commits, workdir),
// scan them (scan), store the report, ask for the state once more, and publish (publish).
// How a task ended, by its error and by what ended its context, is an end (failure), and
// settle does what follows: done, retried, postponed, released, superseded, failed.
//
// A check run belongs to a commit, which several pull requests may have as their head:
// sharedhead makes it say the worst of their verdicts, and has the others judged again
// when a verdict changes.
package worker
