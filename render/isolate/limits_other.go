//go:build !linux

package isolate

// limitResources does nothing: only Bound checks the limits.
func limitResources() {}
