package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Choice is a flag whose value is one of a few words.
type Choice struct {
	Value string
	Known []string
}

// String implements pflag.Value.
func (c *Choice) String() string { return c.Value }

// Type implements pflag.Value.
func (c *Choice) Type() string { return strings.Join(c.Known, "|") }

// Set implements pflag.Value.
func (c *Choice) Set(value string) error {
	if !slices.Contains(c.Known, value) {
		return fmt.Errorf("want one of %s", strings.Join(c.Known, ", "))
	}
	c.Value = value
	return nil
}

// Words is a repeatable flag whose values may contain commas, as globs do.
type Words struct {
	Values []string
	Kind   string
}

// String implements pflag.Value.
func (w *Words) String() string { return strings.Join(w.Values, " ") }

// Type implements pflag.Value.
func (w *Words) Type() string { return w.Kind }

// Set implements pflag.Value.
func (w *Words) Set(value string) error { w.Values = append(w.Values, value); return nil }

// Completions returns the words that complete a flag.
func Completions(words []string) []cobra.Completion {
	return append([]cobra.Completion(nil), words...)
}

// Count returns a number with its noun.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
