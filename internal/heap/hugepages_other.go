//go:build !linux

package heap

// advised is false: only Linux takes advice.
func advised() bool { return false }

func advise([]byte) {}
