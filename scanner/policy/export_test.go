package policy

// SetShortcutAfter has policies take the shortcut after n requests.
func (c *Compiler) SetShortcutAfter(n int64) { c.shortcutAfter = n }
