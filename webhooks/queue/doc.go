// Package queue keeps what the service must not lose: jobs, dead letters, scan records and
// reports, in NATS JetStream. Without a URL the server is embedded in the process, listens
// to nobody and writes to a data directory, synchronously; with one it is external. All
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
// Each of the first five is a store: a subject has one message, the present record.
// A write is one message that the server takes only if the one it was made from is still
// the last of its subject. So every change is atomic, whatever else changes the same, and a
// process may die before or after a write but not in the middle.
//
// Jobs, scans and dead letters are few enough to be kept in memory as well, where a
// watcher of the stream brings what others write. Going by that only costs a try: a claim
// or a change made from what is no longer true is refused, and made again from what is.
//
// # Memory
//
// What a record takes is there once: the schedule and the index point at what the caches hold, and
// a scan that waits is its job. Texts that many records have are shared (interner). The server
// has an entry for each subject, and for some minutes the ids of writes and that something
// is gone. So the memory grows with the jobs that wait, which nothing bounds, with the scans
// that ended (Config.KeepScans), with the dead letters, and embedded with the deliveries
// (Config.KeepDeliveries). BenchmarkMemory measures it.
//
// # A job
//
// A subject's record (see record) holds its newest job, the attempts so far, who works on
// the subject, and since when it waits. These are its steps, each one write:
//
//	Enqueue   makes the record, or replaces the job in it; the holder stays
//	Next      sets the holder and counts an attempt; or takes the holder away who is gone
//	(beats)   count signs of life of the holder, every third of the lease
//	Done      removes the record
//	Retry     removes the holder, counts a failure and sets when to try again
//	Release   removes the holder and takes the attempt back
//	Bury      removes the record, after it stored a dead letter
//
// A subject with a holder is not handed out, so one subject has one worker. A holder of
// which no sign of life arrived for a lease - on this process' clock; clocks are not compared -
// may be replaced, and then its own writes are refused: it gets ErrLost. It stops by
// itself before that. An embedded queue has one process, so at its start whatever is held
// is held by a dead one, and is free at once.
//
// A holder whose job was replaced gets ErrSuperseded, as soon as the watcher brings it.
// Whatever it then calls only removes the holder, and the newer job is handed out.
//
// # Where a process may die
//
// Enqueue: before its write nothing happened, and the delivery is not answered; GitHub
// lists it as failed, and it is requested again. After its write, before Remember: the
// delivery comes again, and is recognized by the id that the stream knows for some minutes
// or by the job that is there. If that is done already it is done once more, which finds
// it done.
//
// A scan that is queued has no record: its job is its record, so there is no moment with
// one but not the other. That a job was replaced is in the record of the job that replaced
// it (record.Replaced), and soon after in a scan record of its own. Whoever claims the
// newer job first writes what is missing.
//
// Next: after the claim, before the job is handed out: the job is free again after the lease.
//
// A process that ends takes all that it worked on with it, and it is not known which job was
// the cause. So none is blamed, but each is worked on alone from then on: the process takes it
// when it works on nothing else, and takes nothing until it has ended. A job whose process
// ends then is the cause, or somebody killed the process again. It rests, as after a failure,
// and after Config.Attempts such ends Next makes it a dead letter, and hands it out once more
// so that its end is reported.
//
// Cutting off a holder that is gone: the job's record is written first, since the holder may live
// and its record have changed; that its scan waits again is written after. Between them the scan
// says that it is running, until the job is claimed.
//
// Done, Retry, Release, Bury: the scan record and the dead letter are written first, the
// job's record last. Between them the job is still held; it is handed out again after the
// lease, and does again what it did, which finds it done. Its scan then runs again, and
// its dead letter is the same one.
//
// PutReport: the report is stored first, then that there is one. Between them nobody finds
// the report; the job is still there and stores it again.
//
// Revive: the job is stored first, then the letter removed. Forget and Prune: reports go
// before the records that name them; what is left is dropped next time.
package queue
