// Package webhooks is the service: a GitHub App that takes webhooks, judges pull
// requests and answers on them.
//
// It puts the parts together, which are packages of their own: intake takes deliveries
// and stores jobs in the queue, workers do them, pages show them, and reconcile looks for
// what was missed. Everything they know of the outside is in Config.
//
// Config is read from flags, the environment and a file (configread), checked
// (configcheck) and documented by one table (settings). New makes a Service, and Run runs
// it: it waits for NATS and GitHub (start), has routes answer, and starts workers and the
// reconciler when all is there (live). Files with secrets are read again when they change
// (reload). With Dev there need not be an App: /setup makes one (setup).
package webhooks
