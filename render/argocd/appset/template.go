package appset

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render/helm/engine"
)

// replaceAll replaces parameters in all texts of a value, including keys.
func (g *generator) replaceAll(value any, params map[string]any, options []string) (any, error) {
	switch v := value.(type) {
	case string:
		return g.replace(v, params, options)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			var err error
			if out[i], err = g.replaceAll(item, params, options); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			item, err := g.replaceAll(v[key], params, options)
			if err != nil {
				return nil, err
			}
			name, err := g.replace(key, params, options)
			if err != nil {
				return nil, err
			}
			out[name] = item
		}
		return out, nil
	}
	return value, nil
}

// interpolate replaces parameters of the first generator of a matrix in the second one. Texts in its `values` that use
// its own parameters are unchanged.
func (g *generator) interpolate(content map[string]any, params map[string]any) (any, error) {
	own, _ := content["values"].(map[string]any)
	rest := maps.Clone(content)
	delete(rest, "values")
	out, err := g.replaceAll(rest, params, g.set.Spec.GoTemplateOptions)
	if err != nil || own == nil {
		return out, err
	}
	strict := append(slices.DeleteFunc(slices.Clone(g.set.Spec.GoTemplateOptions), func(o string) bool { return strings.HasPrefix(o, "missingkey=") }), "missingkey=error")
	values := map[string]any{}
	for key, value := range own {
		text, _ := value.(string)
		resolved, err := g.replace(text, params, strict)
		switch {
		case err != nil && (strings.Contains(err.Error(), "map has no entry for key") || strings.Contains(err.Error(), "can't evaluate field")):
			resolved = text
		case err != nil:
			return nil, err
		}
		values[key] = resolved
	}
	out.(map[string]any)["values"] = values
	return out, nil
}

// appendValues adds the `values` of a generator to parameters. They may refer to these parameters.
func (g *generator) appendValues(values map[string]string, params map[string]any) error {
	made := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		text, err := g.replace(values[key], params, g.set.Spec.GoTemplateOptions)
		if err != nil {
			return fmt.Errorf("failed to replace templated string: %w", err)
		}
		made[key] = text
	}
	switch {
	case len(made) == 0:
	case g.set.Spec.GoTemplate:
		params["values"] = made
	default:
		for key, value := range made {
			params["values."+key] = value
		}
	}
	return nil
}

var templated = regexp.MustCompile(".*{{.*}}.*")

// replace replaces the parameters in a text.
func (g *generator) replace(text string, params map[string]any, options []string) (string, error) {
	if g.set.Spec.GoTemplate {
		return g.execute(text, params, options)
	}
	if !templated.MatchString(text) {
		return text, nil
	}
	var out strings.Builder
	for rest := text; ; {
		before, after, found := strings.Cut(rest, "{{")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		tag, next, closed := strings.Cut(after, "}}")
		if !closed {
			return "", fmt.Errorf("invalid template: cannot find end tag=\"}}\" in the template=%q starting from %q", text, after)
		}
		value, ok := params[strings.TrimSpace(tag)].(string)
		if !ok || strings.TrimSpace(tag) == "" {
			value = "{{" + tag + "}}"
		}
		out.WriteString(value)
		rest = next
	}
}

const (
	// maxText limits the output of a template, in bytes.
	maxText = 4 << 20
	// maxSteps limits how many parts of templates an ApplicationSet may execute, and maxWork how many bytes functions may
	// read and write for it.
	maxSteps = 1_000_000
	maxWork  = 1 << 30
)

// execute executes a Go template.
func (g *generator) execute(text string, params map[string]any, options []string) (out string, err error) {
	if !strings.Contains(text, "{{") {
		return text, nil
	}
	file, err := g.filled(text, params, options)
	if err != nil {
		return "", err
	}
	return file.Text, nil
}

// filled returns what a Go template executes to, with where each part is from.
func (g *generator) filled(text string, params map[string]any, options []string) (file *engine.File, err error) {
	defer func() {
		if failure := recover(); failure != nil { // an unknown option
			err = fmt.Errorf("%v", failure)
		}
	}()
	drawn := error(nil)
	file, err = g.engine.Text(g.ctx, "template", text, functions(&drawn), engine.Options{
		Data: params, Template: append([]string{}, options...),
		Limits: engine.Limits{Steps: maxSteps, Work: maxWork, Output: maxText, Value: maxText}, Used: &g.used,
	})
	switch {
	case drawn != nil:
		return nil, fmt.Errorf("failed to execute go template %s: %w", shortened(text), drawn)
	case err != nil:
		if e := new(engine.Error); errors.As(err, &e) {
			if err = errors.New(e.Message); e.Limit {
				err = &limitError{e.Message}
			}
		}
		return nil, fmt.Errorf("failed to execute go template %s: %w", shortened(text), err)
	}
	return file, nil
}

// shortened returns a text shortened for a message.
func shortened(text string) string {
	const most = 200
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}

// chance are the functions with a different result for each call.
var chance = []string{
	"now", "ago", "date", "dateInZone", "date_in_zone", "htmlDate", "htmlDateInZone", "dateModify", "date_modify", "mustDateModify", "must_date_modify",
	"randAlphaNum", "randAlpha", "randAscii", "randNumeric", "randBytes", "randInt", "uuidv4", "shuffle", "bcrypt", "htpasswd", "encryptAES",
	"genPrivateKey", "genCA", "genCAWithKey", "genSelfSignedCert", "genSelfSignedCertWithKey", "genSignedCert", "genSignedCertWithKey", "derivePassword",
}

// chanceError is the error of a template that uses one of them.
type chanceError struct{ function string }

func (e *chanceError) Error() string {
	return e.function + " has another result each time: what it is for Argo CD is not known"
}

// limitError is the error of a template that exceeds a limit.
type limitError struct{ message string }

func (e *limitError) Error() string { return e.message }

// maxRepeat limits the numbers that functions like repeat and until accept.
const maxRepeat = 100_000

// functions returns the functions that templates may call. A call of one in chance sets drawn.
func functions(drawn *error) template.FuncMap {
	all := template.FuncMap(sprig.GenericFuncMap())
	for _, name := range []string{"env", "expandenv", "getHostByName"} {
		delete(all, name)
	}
	for _, name := range chance {
		all[name] = func(...any) (string, error) {
			*drawn = &chanceError{name}
			return "", *drawn
		}
	}
	repeat, until := all["repeat"].(func(int, string) string), all["until"].(func(int) []int)
	untilStep := all["untilStep"].(func(int, int, int) []int)
	all["repeat"] = func(n int, text string) (string, error) {
		if n < 0 || n*len(text) > maxText {
			return "", errors.New("repeat: too much")
		}
		return repeat(n, text), nil
	}
	all["until"] = func(n int) ([]int, error) {
		if n > maxRepeat || n < -maxRepeat {
			return nil, errors.New("until: too many")
		}
		return until(n), nil
	}
	all["untilStep"] = func(from, to, step int) ([]int, error) {
		if step != 0 && (to-from)/step > maxRepeat {
			return nil, errors.New("untilStep: too many")
		}
		return untilStep(from, to, step), nil
	}
	all["normalize"] = sanitize
	all["slugify"] = slugify
	all["toYaml"] = func(v any) (string, error) {
		data, err := yaml.Marshal(v)
		return strings.TrimSuffix(string(data), "\n"), err
	}
	all["fromYaml"] = func(text string) (map[string]any, error) {
		m := map[string]any{}
		return m, yaml.Unmarshal([]byte(text), &m)
	}
	all["fromYamlArray"] = func(text string) ([]any, error) {
		a := []any{}
		return a, yaml.Unmarshal([]byte(text), &a)
	}
	return all
}

var notInName = regexp.MustCompile("[^-a-z0-9.]")

// sanitize converts a text to the name of a DNS subdomain.
func sanitize(name string) string {
	name = notInName.ReplaceAllString(strings.ToLower(name), "-")
	return strings.Trim(name[:min(len(name), 253)], "-.")
}

var (
	notInSlug = regexp.MustCompile("[^a-z0-9-_]")
	dashes    = regexp.MustCompile("-+")
)

// slugify converts a text to a short name: `slugify MAXLENGTH SMART NAME`, where smart cuts between words.
func slugify(args ...any) (string, error) {
	longest, smart, name := 50, true, ""
	for i, arg := range args {
		ok := true
		switch i {
		case len(args) - 1:
			name, ok = arg.(string)
		case 0:
			longest, ok = arg.(int)
		case 1:
			smart, ok = arg.(bool)
		}
		if !ok {
			return "", fmt.Errorf("slugify: argument %d has the wrong type", i+1)
		}
	}
	slug := dashes.ReplaceAllString(notInSlug.ReplaceAllString(sanitize(name), "-"), "-")
	slug = strings.Trim(slug, "-_")
	switch {
	case longest <= 0 || len(slug) <= longest:
		return slug, nil
	case !smart:
		return slug[:longest], nil
	}
	words := strings.SplitAfter(slug, "-")
	if len(words[0]) > longest {
		return words[0][:longest], nil
	}
	short := ""
	for _, word := range words {
		if len(short)+len(word)-1 > longest {
			break
		}
		short += word
	}
	return strings.Trim(short, "-"), nil
}

// flattened returns the leaves of parameters as texts, by their paths with dots.
func flattened(values map[string]any) map[string]string {
	out := map[string]string{}
	var walk func(at string, value any)
	walk = func(at string, value any) {
		switch v := value.(type) {
		case map[string]any:
			for key, item := range v {
				walk(join(at, key), item)
			}
		case map[string]string:
			for key, item := range v {
				walk(join(at, key), item)
			}
		case []any:
			for i, item := range v {
				walk(join(at, fmt.Sprint(i)), item)
			}
		default:
			out[at] = fmt.Sprintf("%v", value)
		}
	}
	walk("", values)
	return out
}

func join(at, key string) string {
	if at == "" {
		return key
	}
	return at + "." + key
}

func encode(value any) []byte {
	data, _ := json.Marshal(value) // it was decoded from JSON or YAML
	return data
}
