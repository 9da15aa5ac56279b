package action

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
)

// pathInput is the input for the argument PATH.
const pathInput = "path"

// credentialsInput is the input that may contain the credentials instead of the name of their
// file: secrets may be in the environment, but not on a command line.
const credentialsInput = "credentials"

// readInputs sets PATH, and the flags that are not on the command line, from the inputs of
// the action. An empty input counts as not given.
func readInputs(cmd *cobra.Command, f *flags, getenv func(string) string) error {
	if path := strings.TrimSpace(inputText(pathInput, getenv)); path != "" && cmd.Flags().NArg() == 0 {
		f.scan.Path = path
	}
	if cache := getenv("RUNNER_TOOL_CACHE"); cache != "" {
		f.scan.Artifacts.Default = filepath.Join(cache, "preadmit", "artifacts")
	}
	flags := cmd.Flags()
	var failure error
	flags.VisitAll(func(flag *pflag.Flag) {
		if failure != nil || flag.Changed || flag.Name == "help" {
			return
		}
		for _, value := range inputValues(flag, getenv) {
			if flag.Name == credentialsInput && strings.ContainsAny(value, " \t\n") {
				f.scan.Artifacts.Logins = value // the credentials themselves
				continue
			}
			if err := flags.Set(flag.Name, value); err != nil {
				failure = cli.Usagef("input %s: %q: %w", flag.Name, value, unwrapped(err))
				return
			}
		}
	})
	return failure
}

// unwrapped returns the error of a flag's value, without the text that pflag adds.
func unwrapped(err error) error {
	invalid, ok := err.(*pflag.InvalidValueError)
	if !ok {
		return err
	}
	return invalid.Unwrap()
}

// inputValues returns the values of the input with the name of a flag: one for each line if
// the flag is repeatable.
func inputValues(flag *pflag.Flag, getenv func(string) string) []string {
	text := strings.TrimSpace(inputText(flag.Name, getenv))
	if text == "" {
		return nil
	}
	if _, repeatable := flag.Value.(*cli.Words); !repeatable {
		return []string{text}
	}
	var values []string
	for _, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			values = append(values, line)
		}
	}
	return values
}

// inputText returns the text of an input. A runner keeps hyphens in the names of variables, but
// shells do not pass such variables on, so underscores are accepted too.
func inputText(name string, getenv func(string) string) string {
	name = "INPUT_" + strings.ToUpper(name)
	if text := getenv(strings.ReplaceAll(name, "-", "_")); text != "" {
		return text
	}
	return getenv(name)
}
