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

// Compiled counts the policies that were compiled.
func (c *Compiler) Compiled() (n int) {
	c.cache.Range(func(any, any) bool { n++; return true })
	return n
}

// Spent is what all evaluations cost.
func (c *Compiler) Spent() int64 { return c.spent.Load() }
