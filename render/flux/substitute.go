package flux

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fluxcd/pkg/envsubst"
	"github.com/fluxcd/pkg/envsubst/parse"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
)

// substituter replaces variables in objects as the controller does after a build: in the YAML text of each object,
// which is then parsed again.
type substituter struct {
	values map[string]string
	// unknown are the reasons why variables are not known, by name.
	unknown map[string]string
	// missing is the reason why all other variables are not known; empty if they have no value.
	missing string
	// invalid is the error for a variable name that the controller refuses when it replaces any variable.
	invalid error
	strict  bool
	// marked is set if texts already contain marks.
	marked bool
}

// variableName matches the variable names that the controller accepts.
var variableName = regexp.MustCompile(`^[_[:alpha:]][_[:alpha:][:digit:]]*$`)

// substituter returns the substituter of the unit; nil if it substitutes nothing.
func (u *unit) substituter() *substituter {
	post := u.object.Spec.PostBuild
	if post == nil {
		return nil
	}
	r := &substituter{values: map[string]string{}, unknown: map[string]string{}, strict: u.root.Unit.Strict}
	for _, v := range u.root.Unit.Variables {
		switch {
		case v.Name == "":
			r.missing = v.Unknown
		case v.Unknown != "":
			r.unknown[v.Name] = v.Unknown
		case !variableName.MatchString(v.Name):
			r.invalid = fmt.Errorf("post build failed: %q var name is invalid, must match %q", v.Name, variableName)
		default:
			r.values[v.Name] = v.Value
		}
	}
	if len(u.root.Unit.Variables) == 0 && post.SubstituteStrategy != "Always" {
		return nil
	}
	return r
}

const substitutionDisabled = Group + "/substitute"

// object replaces the variables in an object. content is its decoded content.
func (r *substituter) object(o *render.Object, content map[string]any) (*render.Object, map[string]any, error) {
	if isDisabled(content) {
		return o, content, nil
	}
	if r.invalid != nil {
		return nil, nil, r.invalid
	}
	name := fmt.Sprint(content["kind"], "/", nameOf(content))
	after, marks, err := r.content(o.JSON)
	if noYAML := new(noYAMLError); errors.As(err, &noYAML) && len(marks) > 0 {
		// The partly unknown value may be YAML: it is treated as completely unknown.
		after, marks, err = r.markedWhole(o.JSON)
	}
	if err != nil {
		field, why := r.failingField(o, content)
		if field != "" {
			name, err = fmt.Sprintf("%s, field %s", name, field), why
		}
		return nil, nil, &substitutionError{o.Index, field, fmt.Errorf("post build failed for %s: %w", name, err)}
	}
	unknown := slices.Clone(o.Unknown)
	if len(marks) > 0 {
		unknown = append(unknown, unmark(after, marks)...)
	}
	return &render.Object{JSON: tree.Encode(after), Index: o.Index, Unknown: unknown}, after, nil
}

// noYAMLError is the error of a text that is not YAML after substitution.
type noYAMLError struct{ why string }

func (e *noYAMLError) Error() string { return "after substitution it is no YAML: " + e.why }

// content returns the content of an object after substitution, and the unknown values that its marks stand for.
func (r *substituter) content(object []byte) (after map[string]any, marks []markedValue, err error) {
	text, err := yaml.JSONToYAML(object)
	if err != nil {
		return nil, nil, err
	}
	replaced, marks, err := r.text(string(text))
	if err != nil {
		return nil, nil, fmt.Errorf("envsubst error: variable substitution failed: %w", err)
	}
	if bad := guard(replaced); bad != nil {
		return nil, nil, bad
	}
	data, err := yaml.YAMLToJSON([]byte(replaced))
	if err != nil {
		return nil, marks, &noYAMLError{tree.YamlPrefix.ReplaceAllString(strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "), "")}
	}
	if err := utiljson.Unmarshal(data, &after); err != nil || after == nil {
		return nil, nil, errors.New("after substitution it is no object")
	}
	return roundIntegers(after).(map[string]any), marks, nil
}

// roundIntegers rounds integers as kustomize does after substitution: it reads every number as float64, and writes the
// shortest digits for it.
func roundIntegers(value any) any {
	const exact = 1 << 53
	switch v := value.(type) {
	case map[string]any:
		for key, item := range v {
			v[key] = roundIntegers(item)
		}
	case []any:
		for i, item := range v {
			v[i] = roundIntegers(item)
		}
	case int64:
		if -exact <= v && v <= exact {
			return v
		}
		rounded, err := strconv.ParseInt(strconv.FormatFloat(float64(v), 'f', -1, 64), 10, 64)
		if err != nil { // it is too large for int64
			return float64(v)
		}
		return rounded
	}
	return value
}

// guard checks the limits of a text before its aliases are expanded.
func guard(text string) error {
	limits := tree.Limits{}.WithDefaults()
	if len(text) > maxExpansion {
		return fmt.Errorf("after substitution it has %d bytes, more than the limit of %d", len(text), maxExpansion)
	}
	if tree.Harmless([]byte(text), limits) {
		return nil
	}
	if bad := tree.Guard([]byte(text), limits); bad != nil {
		return bad
	}
	return nil
}

func isDisabled(content map[string]any) bool {
	metadata, _ := content["metadata"].(map[string]any)
	for _, field := range []string{"labels", "annotations"} {
		values, _ := metadata[field].(map[string]any)
		if values[substitutionDisabled] == "disabled" {
			return true
		}
	}
	return false
}

func nameOf(content map[string]any) string {
	metadata, _ := content["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	return name
}

// text replaces the variables in a text. marks are the unknown values that marks stand for, by number.
func (r *substituter) text(text string) (replaced string, marks []markedValue, err error) {
	if !strings.Contains(text, "$") {
		return text, nil, nil
	}
	if !r.marked && strings.Contains(text, mark) {
		return "", nil, errMark
	}
	if err := checkText(text); err != nil {
		return "", nil, err
	}
	template, err := parse.Parse(text)
	if err != nil {
		return "", nil, err
	}
	if err := r.checkCost(template.Root); err != nil {
		return "", nil, err
	}
	e := &evaluation{substituter: r}
	if e.reason(template.Root) == "" {
		replaced, err = r.eval(text)
		return replaced, nil, err
	}
	var out strings.Builder
	if err := e.write(&out, template.Root); err != nil {
		return "", nil, err
	}
	return out.String(), e.marks, nil
}

// eval replaces variables that are all known, using the controller's library.
func (r *substituter) eval(text string) (string, error) {
	return envsubst.Eval(text, func(name string) (string, bool) {
		value, ok := r.values[name]
		return value, ok || !r.strict
	})
}

// evaluation is the evaluation of a text with unknown values.
type evaluation struct {
	*substituter
	marks []markedValue
}

// why returns the reason why a variable is not known; empty if it is known.
func (e *evaluation) why(name string) string {
	if _, ok := e.values[name]; ok {
		return ""
	}
	if why, ok := e.unknown[name]; ok {
		return fmt.Sprintf("it holds ${%s}: %s", name, why)
	}
	if e.missing != "" {
		return fmt.Sprintf("it holds ${%s}: %s", name, e.missing)
	}
	return ""
}

// reason returns the reason why the value of a node is not known; empty if it is known.
func (e *evaluation) reason(node parse.Node) string {
	switch n := node.(type) {
	case *parse.ListNode:
		return e.firstReason(n.Nodes)
	case *parse.FuncNode:
		if why := e.why(n.Param); why != "" {
			return why
		}
		return e.firstReason(n.Args)
	}
	return ""
}

func (e *evaluation) firstReason(nodes []parse.Node) string {
	for _, n := range nodes {
		if why := e.reason(n); why != "" {
			return why
		}
	}
	return ""
}

// write writes the value of a node, with marks for unknown values.
func (e *evaluation) write(out *strings.Builder, node parse.Node) error {
	switch n := node.(type) {
	case *parse.TextNode:
		out.WriteString(n.Value)
	case *parse.ListNode:
		for _, child := range n.Nodes {
			if err := e.write(out, child); err != nil {
				return err
			}
		}
	case *parse.FuncNode:
		return e.writeFunc(out, n)
	}
	return nil
}

func (e *evaluation) writeFunc(out *strings.Builder, n *parse.FuncNode) error {
	why := e.why(n.Param)
	if why == "" && isDefault(n.Name) { // the arguments count only if the variable is empty
		if value := e.values[n.Param]; value != "" {
			out.WriteString(value)
			return nil
		}
		for _, arg := range n.Args {
			if err := e.write(out, arg); err != nil {
				return err
			}
		}
		return nil
	}
	if why == "" {
		why = e.firstReason(n.Args)
	}
	if text, ok := asText(n); why == "" && ok {
		value, err := e.eval(text)
		out.WriteString(value)
		return err
	}
	if why == "" {
		why = fmt.Sprintf("it holds an expression of ${%s} that is not understood", n.Param)
	}
	fmt.Fprintf(out, "%s%dx", mark, len(e.marks))
	e.marks = append(e.marks, markedValue{"${" + n.Param + "}", why})
	return nil
}

// isDefault reports whether an operator has a default for an empty variable.
func isDefault(operator string) bool {
	switch operator {
	case "-", "+", "=", "?", ":-", ":+", ":=", ":?":
		return true
	}
	return false
}

// asText returns the text of an expression; ok is false if the text would be parsed as another expression.
func asText(n *parse.FuncNode) (text string, ok bool) {
	var out strings.Builder
	out.WriteString("${")
	if n.Name == "#" && len(n.Args) == 0 {
		out.WriteString("#")
	}
	out.WriteString(n.Param)
	if len(n.Args) > 0 || n.Name != "#" {
		out.WriteString(n.Name)
	}
	separator := map[byte]string{'/': "/", ':': ":"}
	for i, arg := range n.Args {
		if i > 0 && n.Name != "" {
			out.WriteString(separator[n.Name[0]])
		}
		literal, isText := arg.(*parse.TextNode)
		if !isText {
			return "", false
		}
		out.WriteString(literal.Value)
	}
	out.WriteString("}")
	again, err := parse.Parse(out.String())
	return out.String(), err == nil && equal(again.Root, n)
}

// equal reports whether two expressions are the same.
func equal(a, b parse.Node) bool {
	x, ok := a.(*parse.FuncNode)
	y, ok2 := b.(*parse.FuncNode)
	if !ok || !ok2 {
		t, isText := a.(*parse.TextNode)
		u, isText2 := b.(*parse.TextNode)
		return isText && isText2 && t.Value == u.Value
	}
	return x.Param == y.Param && x.Name == y.Name && slices.EqualFunc(x.Args, y.Args, equal)
}
