//go:build !linux

package resident

// Release does nothing: only Linux supports this.
func Release() {}
