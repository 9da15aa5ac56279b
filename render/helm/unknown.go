package helm

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/locate"
	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/tree"
)

// standIn is a text that replaces unknown values in one rendering: fields that differ then depend on these
// values.
type standIn struct {
	text string
	// scalar is not set for texts that only show that the chart may make more of a mapping, a list, or several
	// entries of one.
	scalar bool
	// late is set for texts that are tried only if the chart accepts too few of the others.
	late bool
	// typed is set if the text replaces a variable of the HelmRelease with the typed value that it has in
	// YAML.
	typed bool
}

// standIns returns the texts for a release. They include a number and the empty text, since a chart may
// convert a value to a number, or test whether it exists. If the types of values depend on the text, as with
// `${X}` in a text of valuesFrom, there are texts of all types. For a variable in the HelmRelease, other types
// come last.
func (in *installed) standIns() []standIn {
	all := []standIn{{text: "stand-in", scalar: true}, {text: "7", scalar: true}, {scalar: true}}
	late := !slices.ContainsFunc(in.root.Unit.Release.References, func(r render.Reference) bool { return len(r.Holds) > 0 })
	types := in.types(all[0])
	for _, s := range []standIn{{text: "[stand-in]"}, {text: "{stand-in: stand-in}"}, {text: "stand-in, stand-in"}, {text: "0", scalar: true, late: late}, {text: "true", scalar: true, late: late}, {text: "false", scalar: true, late: late}} {
		if in.types(s) != types {
			all = append(all, s)
		}
	}
	for _, text := range []string{"7", "0", "true", "false", ""} {
		s := standIn{text: text, scalar: true, late: true}
		types := in.types(s)
		if s.typed = true; in.types(s) != types {
			all = append(all, s)
		}
	}
	return all
}

// types returns the values of the release with a stand-in, with all strings empty.
func (in *installed) types(s standIn) string {
	h, err := release.ParseHelmRelease(in.vary(s))
	if err != nil {
		return ""
	}
	user, err := in.values(h, &s)
	if err != nil {
		return "" // an error like others: rendering reports it
	}
	user, _ = withoutTexts(user).(map[string]any)
	return string(tree.Encode(user))
}

func withoutTexts(v any) any {
	switch v := v.(type) {
	case string:
		return ""
	case map[string]any:
		for key, value := range v {
			v[key] = withoutTexts(value)
		}
	case []any:
		for i, item := range v {
			v[i] = withoutTexts(item)
		}
	}
	return v
}

// of returns the text for one of several unknown values, by its number: a chart may require different values.
func (s standIn) of(number int) string {
	switch {
	case number == 0:
	case s.text == "stand-in":
		return s.text + "-" + strconv.Itoa(number)
	case s.text == "7":
		return strconv.Itoa(7 + number)
	}
	return s.text
}

// dataOf returns the text of a reference. If it is invalid YAML only because of its unknown parts, like
// `[${X}]`, these are replaced with as many letters.
func dataOf(r render.Reference) string {
	if len(r.Holds) == 0 || r.TargetPath != "" {
		return r.Data
	}
	if _, err := common.ReadValues([]byte(r.Data)); err == nil {
		return r.Data
	}
	return r.With(func(part string) string { return strings.Repeat("x", len(part)) })
}

// variables matches variables that have no value.
var variables = regexp.MustCompile(`\$\{[^{}]*\}`)

// plain matches texts that may become a number, a boolean or nothing once their variables are replaced: Flux
// reads kustomize's output, which does not quote them.
var plain = regexp.MustCompile(`^(\$\{[^{}]*\}|[0-9.])+$`)

// vary returns the HelmRelease with a stand-in for unknown fields. In a text with variables, only these are
// replaced.
func (in *installed) vary(s standIn) json.RawMessage {
	content := (&render.Object{JSON: in.root.Unit.Object}).Content()
	for _, u := range in.root.Unit.Release.Unknown {
		set(content, u.Path, func(old any) any {
			known, ok := old.(string)
			if !ok || !variables.MatchString(known) {
				return s.text
			}
			replaced := variables.ReplaceAllLiteralString(known, s.text)
			if s.typed && plain.MatchString(known) {
				return scalarOf(replaced)
			}
			return replaced
		})
	}
	return tree.Encode(content)
}

// scalarOf returns the YAML value of a text; a mapping or a list stays a text.
func scalarOf(text string) any {
	var value any
	if yaml.Unmarshal([]byte(text), &value) != nil || !locate.IsScalar(value) {
		return text
	}
	return value
}

// set replaces the scalar at a path; a mapping or list is removed instead.
func set(at any, path []string, with func(any) any) {
	if len(path) == 0 {
		return
	}
	switch v := at.(type) {
	case map[string]any:
		old, ok := v[path[0]]
		switch {
		case !ok:
		case len(path) > 1:
			set(old, path[1:], with)
		case locate.IsScalar(old):
			v[path[0]] = with(old)
		default:
			delete(v, path[0])
		}
	case []any:
		i, err := strconv.Atoi(path[0])
		switch {
		case err != nil || i < 0 || i >= len(v):
		case len(path) > 1:
			set(v[i], path[1:], with)
		case locate.IsScalar(v[i]):
			v[i] = with(v[i])
		default:
			v[i] = nil
		}
	}
}
