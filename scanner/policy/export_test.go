package policy

import "github.com/preadmit/preadmit/scanner/policy/cel"

// OrderedEnvironment is the environment that policies are compiled in.
var OrderedEnvironment = cel.Environment

// SetShortcutAfter has policies take the shortcut after n requests.
func (c *Compiler) SetShortcutAfter(n int64) { c.shortcutAfter = n }

// Shortcuts counts the shortcuts tried by all policies, and those that said
// something.
func (c *Compiler) Shortcuts() (tried, held int64) {
	c.cache.Range(func(_, once any) bool {
		if s := once.(func() *compiled)().shortcut; s != nil {
			tried, held = tried+s.tried.Load(), held+s.held.Load()
		}
		return true
	})
	return tried, held
}
