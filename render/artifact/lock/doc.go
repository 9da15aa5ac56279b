// Package lock reads and writes preadmit.lock: what the artifacts of a repository were
// resolved to. The file is YAML, sorted, and read strictly. docs/lock.schema.json describes it.
package lock
