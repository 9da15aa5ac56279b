// Package webhooks is the service: a GitHub App that receives webhooks, judges pull requests and
// publishes the verdicts.
//
// It assembles its parts, which are packages of their own: intake receives deliveries and
// stores jobs in the queue, workers process them, pages show them, and reconcile looks for
// missed events. Config has all their settings.
//
// Config is read from flags, the environment and a file (configread), checked
// (configcheck) and documented by one table (settings). New returns a Service, and Run runs
// it: it waits for NATS and GitHub (start), serves its routes, and starts workers and the
// reconciler when everything is ready (live). Files with secrets are read again when they change
// (reload). With Dev an App is optional: /setup creates one (setup).
package webhooks
