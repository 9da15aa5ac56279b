//go:build !linux

package early

// advised returns false: only Linux supports this.
func advised() bool { return false }

func advise(_, _ uintptr) {}

func addressOf([]byte) uintptr { return 0 }
