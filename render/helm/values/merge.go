package values

import (
	"fmt"
	"maps"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/strvals"
)

// Reference is values that are taken from somewhere else, as `valuesFrom` of a HelmRelease.
type Reference struct {
	// Name is what the reference is called in messages.
	Name string
	// Data is what is taken: YAML, or a value for TargetPath.
	Data []byte
	// TargetPath is where the value goes, as in `helm --set`. It is empty for YAML with all
	// values.
	TargetPath string
	// Literal is set when the value is taken as it is, as by `helm --set-literal`.
	Literal bool
}

// Merge returns the values of references in their order and then inline ones over them, as
// Flux merges them. What a target path sets in a mapping that the inline values have too, and
// nothing before it had, wins over them: it is set in that very mapping. inline is modified.
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

// Overlay returns the values of a with those of b over them. Mappings are merged, everything
// else is replaced. Mappings that only one of them has are shared with it.
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

// set puts the value at its target path. One in quotes is a string, however it looks.
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

// literal escapes what `--set` takes as syntax.
var literal = strings.NewReplacer(`\`, `\\`, `,`, `\,`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`)
