// Package lock reads and writes preadmit.lock, which records what the artifacts of a repository were resolved to. The
// file is sorted YAML, and is read strictly. docs/lock.schema.json describes it.
package lock
