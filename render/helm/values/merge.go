package values

import (
	"fmt"
	"maps"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/strvals"
)

// Reference refers to values from another source, as `valuesFrom` of a HelmRelease does.
type Reference struct {
	// Name is the name of the reference in messages.
	Name string
	// Data is the content: YAML, or a value for TargetPath.
	Data []byte
	// TargetPath is the path where the value is set, as in `helm --set`. It is empty if Data is YAML with all
	// values.
	TargetPath string
	// Literal is set when the value is used literally, as by `helm --set-literal`.
	Literal bool
}

// Merge merges the values of references in order and then inline ones, as Flux does. If a target path sets a
// value in a mapping that only the inline values had before, that value takes precedence over inline ones: it
// is set in the inline mapping itself. inline is modified.
func Merge(references []Reference, inline map[string]any) (map[string]any, error) {
	merged := map[string]any{}
	for _, r := range references {
		if r.TargetPath == "" {
			values, err := common.ReadValues(r.Data)
			if err != nil {
				return nil, fmt.Errorf("%s does not hold values: %w", r.Name, err)
			}
			merged = Overlay(merged, values)
			continue
		}
		merged = Overlay(merged, inline)
		if err := r.set(merged); err != nil {
			return nil, fmt.Errorf("%s cannot be set at %s: %w", r.Name, r.TargetPath, err)
		}
	}
	return Overlay(merged, inline), nil
}

// Overlay returns the values of a overridden by those of b. Mappings are merged, everything else is replaced.
// The result shares mappings that only one of them has.
func Overlay(a, b map[string]any) map[string]any {
	out := make(map[string]any, len(a))
	maps.Copy(out, a)
	for key, value := range b {
		if over, ok := value.(map[string]any); ok {
			if under, ok := out[key].(map[string]any); ok {
				out[key] = Overlay(under, over)
				continue
			}
		}
		out[key] = value
	}
	return out
}

// set sets the value at its target path. A quoted value is always a string.
func (r Reference) set(values map[string]any) error {
	value := string(r.Data)
	switch {
	case r.Literal:
		return strvals.ParseIntoString(r.TargetPath+"="+literal.Replace(value), values)
	case quoted(value, "'"), quoted(value, `"`):
		return strvals.ParseIntoString(r.TargetPath+"="+strings.Trim(value, `'"`), values)
	}
	return strvals.ParseInto(r.TargetPath+"="+value, values)
}

func quoted(value, quote string) bool {
	return strings.HasPrefix(value, quote) && strings.HasSuffix(value, quote)
}

// literal escapes the syntax of `--set`.
var literal = strings.NewReplacer(`\`, `\\`, `,`, `\,`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`)
