package artifacts

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/render/artifact/permit"
)

// Mode determines what a scan fetches. The zero value fetches nothing.
type Mode struct {
	what fetchWhat
	lock cli.Choice
	// Allow are URL patterns in addition to those of the configuration.
	Allow cli.Words
}

// Values of --fetch.
const (
	fetchOff    fetchWhat = "off"
	fetchLocked fetchWhat = "locked"
	fetchAsked  fetchWhat = "asked"
)

// Values of --lock.
const (
	lockBase = "base"
	lockNone = "none"
)

// LockedMode returns the mode that fetches what the lock and the configuration of the base have.
func LockedMode() Mode { return Mode{what: fetchLocked} }

// Register declares the flags.
func (m *Mode) Register(flags *pflag.FlagSet) {
	if m.what == "" {
		m.what = fetchOff
	}
	m.lock = cli.Choice{Value: lockBase, Known: []string{lockBase, lockNone}}
	m.Allow.Kind = "PATTERN"
	flags.Var(&m.what, "fetch", "fetch remote bases, files and charts: `WHAT` is locked (those in the lock or configuration of the base), asked (also those that the base uses without a lock) or off")
	flags.Lookup("fetch").NoOptDefVal = string(fetchAsked)
	flags.Var(&m.lock, "lock", "`LOCK` to use: that of the base, or none")
	flags.Var(&m.Allow, "allow", "`PATTERN` of URLs that a change may add, besides those of the configuration (repeatable)")
}

// On reports whether anything may be fetched.
func (m *Mode) On() bool { return m.what != fetchOff && m.what != "" }

// Locked reports whether artifacts that the base needs but does not lock are not fetched.
func (m *Mode) Locked() bool { return m.what == fetchLocked }

// NoLock reports whether locks are ignored.
func (m *Mode) NoLock() bool { return m.lock.Value == lockNone }

// Check returns an error if a pattern is invalid.
func (m *Mode) Check() error {
	for _, text := range m.Allow.Values {
		if _, err := permit.ParsePattern(text); err != nil {
			return cli.Usagef("--allow: %w", err)
		}
	}
	return nil
}

// fetchWhat is the value of --fetch. An input of the Action may also be true or false.
type fetchWhat string

// String implements pflag.Value.
func (w *fetchWhat) String() string { return string(*w) }

// Type implements pflag.Value.
func (w *fetchWhat) Type() string { return "WHAT" }

// Set implements pflag.Value.
func (w *fetchWhat) Set(text string) error {
	switch known := []string{string(fetchLocked), string(fetchAsked), string(fetchOff)}; {
	case slices.Contains(known, text):
		*w = fetchWhat(text)
	case text == "true":
		*w = fetchAsked
	case text == "false":
		*w = fetchOff
	case text == "":
		return errors.New("it is empty")
	default:
		return fmt.Errorf("want one of %s", strings.Join(known, ", "))
	}
	return nil
}
