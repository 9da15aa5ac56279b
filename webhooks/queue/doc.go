// Package queue stores what the service must not lose in NATS JetStream: jobs, dead letters, scan
// records and reports. Without a URL the server is embedded in the process, does not listen on
// the network and writes synchronously to a data directory; with a URL it is external. Everything
// else is the same.
//
// # Streams
//
//	PREADMIT_JOBS        preadmit.jobs.<installation>.<repository>.<what>
//	PREADMIT_SCANS       preadmit.scans.<installation>.<repository>.<id>
//	PREADMIT_DEAD        preadmit.dead.<installation>.<repository>.<what>.<id>
//	PREADMIT_DELIVERIES  preadmit.deliveries.d.<guid>, for four days and up to a number
//	PREADMIT_HOLDS       preadmit.holds.<name>, for a lease
//	OBJ_preadmit-reports reports, compressed
//
// Each of the first five is a store: a subject has one message, its current record. The server
// accepts a write only if the message that the write was made from is still the last one of its
// subject. So every change is atomic, even with concurrent writers, and a process may die before
// or after a write but not in the middle of one.
//
// Jobs, scans and dead letters are also cached in memory. A watcher of the stream brings the
// changes of other replicas. An outdated cache costs only a retry: a claim or change made from an
// outdated record is rejected, and made again from the current one.
//
// # Memory
//
// Records are not held twice: the schedule and the index point at the values in the caches, and
// a waiting scan is represented by its job. Equal strings of many records are shared (interner).
// The server has an entry for each subject, and for some minutes the ids of writes and markers of
// deletions. So memory grows with the waiting jobs, which are unbounded, with the ended scans
// (Config.KeepScans), with the dead letters, and, when embedded, with the deliveries
// (Config.KeepDeliveries). BenchmarkMemory measures it.
//
// # A job
//
// A subject's record (type record) has its newest job, the number of attempts, the holder, and
// the time since which the subject waits. These are the steps of a job, each one write:
//
//	Enqueue   creates the record, or replaces the job in it; the holder stays
//	Next      sets the holder and counts an attempt; or removes a holder whose lease expired
//	(beats)   count heartbeats of the holder, one every third of the lease
//	Done      removes the record
//	Retry     removes the holder, counts a failure and sets the time of the next attempt
//	Release   removes the holder and does not count the attempt
//	Bury      removes the record, after it stored a dead letter
//
// A subject with a holder is not handed out, so one subject has one worker. A holder without a
// heartbeat for a whole lease - by this process' clock; clocks are not compared - may be
// replaced. Its own writes are rejected from then on: it gets ErrLost. It stops by itself before
// that. An embedded queue has one process, so every holder found at its start is dead, and its
// subject is free at once.
//
// A holder whose job was replaced gets ErrSuperseded as soon as the watcher brings the change.
// Any method that it then calls only removes the holder, and the newer job is handed out.
//
// # Where a process may die
//
// Enqueue: before its write nothing happened, and the delivery is not answered; GitHub lists it
// as failed, and the reconciler requests it again. After its write, before Remember: the delivery
// comes again, and is recognized by its id, which the stream knows for some minutes, or by the
// stored job. If that job is done already, it is done again without effect.
//
// A queued scan has no record of its own: it is derived from its job, so there is never one
// without the other. The record of the newer job notes which jobs it replaced (record.Replaced);
// soon after, each gets a scan record of its own. Claiming the newer job first writes those
// that are missing.
//
// Next: after the claim, before the job is handed out: the job is free again after the lease.
//
// When a process ends, all jobs it worked on are interrupted, and it is not known which one was
// the cause. So none is blamed, but each is worked on alone from then on: a process claims it
// only when it works on nothing else, and claims nothing more until it has ended. If the process
// ends again, the job is the cause, or somebody killed the process. The job rests, as after a
// failure, and after Config.Attempts such ends Next makes it a dead letter, and hands it out once
// more so that the worker reports the failure.
//
// Removing a holder whose lease expired: the job's record is written first, since the holder may
// be alive and may have changed the record; the scan becomes queued after that. In between the
// scan appears as running, until the job is claimed.
//
// Done, Retry, Release, Bury: the scan record and the dead letter are written first, the job's
// record last. In between the job is still held; after the lease it is handed out again, and
// repeats its steps without effect. Its scan then runs again, and its dead letter is the same one.
//
// PutReport: the report is stored first, then the scan record's HasReport. In between nobody
// finds the report; the job still exists and stores it again.
//
// Revive: the job is stored first, then the letter is removed. Forget and Prune: reports are
// removed before the records that name them; the next run removes the rest.
package queue
