//go:build !linux

package early

// advised is false: only Linux takes advice.
func advised() bool { return false }

func advise(_, _ uintptr) {}

func addressOf([]byte) uintptr { return 0 }
