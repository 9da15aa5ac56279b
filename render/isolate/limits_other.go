//go:build !linux

package isolate

// limitResources does nothing: what is in use is watched.
func limitResources() {}
