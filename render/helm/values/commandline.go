package values

import (
	"bytes"
	"fmt"

	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/strvals"
)

// File is a values file, as for `--values`.
type File struct {
	Name string
	Data []byte
}

// Assignment is `NAME=VALUE`, as for `--set`, `--set-string` and `--set-file`.
type Assignment struct {
	Text string
	// String is set for a value that is always a string.
	String bool
	// File is the content of the file that the value names; nil for other values.
	File []byte
}

// FromCommandLine returns the values of Helm's flags: first the files, in order, then assignments: those of
// `--set`, then those of strings, then those of files.
func FromCommandLine(files []File, assigned []Assignment) (map[string]any, error) {
	merged := map[string]any{}
	for _, f := range files {
		more, err := loader.LoadValues(bytes.NewReader(f.Data))
		if err != nil {
			return nil, fmt.Errorf("failed to parse %s: %w", f.Name, err)
		}
		merged = loader.MergeMaps(merged, more)
	}
	for rank := range 3 {
		for _, a := range assigned {
			if a.Rank() != rank {
				continue
			}
			if err := a.set(merged); err != nil {
				return nil, fmt.Errorf("failed parsing %q: %w", a.Text, err)
			}
		}
	}
	return merged, nil
}

// Rank orders assignments: those with a higher rank are made later.
func (a Assignment) Rank() int {
	switch {
	case a.File != nil:
		return 2
	case a.String:
		return 1
	}
	return 0
}

func (a Assignment) set(into map[string]any) error {
	switch a.Rank() {
	case 2:
		return strvals.ParseIntoFile(a.Text, into, func([]rune) (any, error) { return string(a.File), nil })
	case 1:
		return strvals.ParseIntoString(a.Text, into)
	}
	return strvals.ParseInto(a.Text, into)
}
