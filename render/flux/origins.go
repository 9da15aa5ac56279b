package flux

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/envsubst/parse"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// Origins implements Source. It builds the root again. Fields that kustomize wrote have their place in the files, or in
// the unit's object. Substituted fields have the place of the variable's value.
func (s *Source) Origins(ctx context.Context, result *render.Result) ([]*origin.Origin, error) {
	u, problem := s.prepare(result.Root)
	if problem != nil {
		return nil, problem
	}
	inner := u.inner.Render(ctx, u.asKustomization())
	if inner.Problem != nil {
		return nil, u.realProblem(inner.Problem)
	}
	built, err := u.inner.Origins(ctx, inner)
	if err != nil {
		return nil, fmt.Errorf("locate the objects of %s: %w", u.root, err)
	}
	origins := make([]*origin.Origin, 0, len(built))
	for i, o := range inner.Objects {
		l := &located{unit: u, ctx: ctx, inner: built[i], before: o}
		if l.isApplied() {
			origins = append(origins, origin.New(l.places))
		}
	}
	return u.atSources(origins), nil
}

// located finds where an object of a unit was written.
type located struct {
	*unit
	ctx   context.Context
	inner *origin.Origin
	// before is the object before substitution.
	before *render.Object
}

// isApplied reports whether the controller applies the object.
func (l *located) isApplied() bool {
	content := l.before.Content()
	if identity := fmt.Sprint(content["apiVersion"], content["kind"], nameOf(content)); strings.Contains(identity, "$") {
		content = l.substituted()
	}
	return isObject(content) && !isKustomizeConfig(content)
}

func (l *located) places() origin.Places {
	p := origin.Places{Document: l.real(l.inner.Document()), Removals: l.removals, History: l}
	if l.inner.HasFields() {
		p.Find = l.find
	} else {
		p.Why = l.inner.Place("metadata.name", origin.Whole).Why
	}
	return p
}

func (l *located) removals(list string) []origin.Removal {
	var out []origin.Removal
	for _, r := range l.inner.Removals(list) {
		r.Position = l.real(r.Position)
		out = append(out, r)
	}
	return out
}

// find returns where a part of a field was written.
func (l *located) find(path string, part origin.Part) origin.Place {
	if at, ok := l.added(path); ok {
		return at
	}
	if list, _ := metadataKey(path); list != "" {
		if by, ok := l.metadata().LostBy(l.substituted(), path); ok {
			path, part = by, origin.Whole
		}
	}
	at := l.inner.Place(path, part)
	at.Position = l.real(at.Position)
	variables := l.variables(path, part)
	if len(variables) == 1 && variables[0].Found() {
		return variables[0]
	}
	for _, place := range variables {
		if place.Found() {
			at.Also = append(at.Also, place)
		}
	}
	return at
}

// substituted returns the content of the object after substitution.
func (l *located) substituted() map[string]any {
	content := l.before.Content()
	replace := l.substituter()
	if replace == nil {
		return content
	}
	if _, after, err := replace.object(l.before, content); err == nil {
		return after
	}
	return content
}

// added returns where a label or annotation that the controller adds is written.
func (l *located) added(path string) (origin.Place, bool) {
	list, key := metadataKey(path)
	if list == "" {
		return origin.Place{}, false
	}
	of := func(field string) (origin.Place, bool) {
		pos := l.written(field)
		return origin.Place{Position: pos, Evidence: origin.Inferred}, pos.Line > 0
	}
	if common := l.object.Spec.CommonMetadata; common != nil {
		values := map[string]map[string]string{"labels": common.Labels, "annotations": common.Annotations}[list]
		if _, ok := values[key]; ok {
			return of(origin.AppendKey("spec.commonMetadata."+list, key))
		}
	}
	switch {
	case list == "labels" && key == Group+"/name":
		return of("metadata.name")
	case list == "labels" && key == Group+"/namespace":
		return of("metadata.namespace")
	}
	return origin.Place{}, false
}

// variables returns where the values of the variables in a field, or in a part of it, are written.
func (l *located) variables(path string, part origin.Part) (places []origin.Place) {
	text, ok := l.expression(path)
	if !ok {
		return nil
	}
	if front, back := origin.SplitImage(text); part != origin.Whole && strings.HasSuffix(path, ".image") {
		text = map[origin.Part]string{origin.Front: front, origin.Back: back}[part]
	}
	for _, name := range usedIn(text) {
		place := origin.Place{}
		if v, ok := l.named(name); ok {
			if pos, ok := l.valueOf(v); ok {
				place = origin.Place{Position: pos, Evidence: origin.Inferred}
			}
		}
		places = append(places, place)
	}
	return places
}

// named returns a variable of the unit that has a value.
func (l *located) named(name string) (render.Variable, bool) {
	variables := l.root.Unit.Variables
	i := slices.IndexFunc(variables, func(v render.Variable) bool { return v.Name == name })
	if i < 0 || variables[i].Value == "" && variables[i].Unknown == "" {
		return render.Variable{}, false
	}
	return variables[i], true
}

// expression returns the text of a field before substitution, if variables were substituted in it.
func (l *located) expression(path string) (string, bool) {
	if l.object.Spec.PostBuild == nil || len(l.root.Unit.Variables) == 0 {
		return "", false
	}
	content := l.before.Content()
	value, _ := origin.Field(content, path)
	text, _ := value.(string)
	return text, strings.Contains(text, "${") && !isDisabled(content)
}

// usedIn returns the names of the variables in a text, each once.
func usedIn(text string) []string {
	if !expressions.MatchString(text) || checkText(text) != nil {
		return nil
	}
	template, err := parse.Parse(text)
	if err != nil {
		return nil
	}
	var names []string
	var walk func(n parse.Node)
	walk = func(n parse.Node) {
		switch n := n.(type) {
		case *parse.ListNode:
			for _, child := range n.Nodes {
				walk(child)
			}
		case *parse.FuncNode:
			if !slices.Contains(names, n.Param) {
				names = append(names, n.Param)
			}
			for _, arg := range n.Args {
				walk(arg)
			}
		}
	}
	walk(template.Root)
	return names
}

var expressions = regexp.MustCompile(`\$\{`)

// valueOf returns where the value of a variable is written.
func (l *located) valueOf(v render.Variable) (tree.Position, bool) {
	u := l.root.Unit
	if u.Origins == nil || v.Written.Root == (render.RootID{}) {
		return tree.Position{}, false
	}
	o, err := u.Origins(l.ctx, v.Written.Root, v.Written.Index)
	if err != nil {
		return tree.Position{}, false
	}
	at := o.Place(v.Written.Path, origin.Whole)
	return at.Position, at.Found()
}

// Steps implements origin.History: the steps of the value through kustomizations, then the values of the variables in
// it.
func (l *located) Steps(path string, part origin.Part, at origin.Place) []origin.Step {
	steps := l.realSteps(l.inner.Chain(path, part))
	if added, ok := l.added(path); ok {
		if _, had := origin.Field(l.before.Content(), path); !had {
			steps = nil
		}
		return append(steps, origin.Step{Position: added.Position, Kind: origin.StepMetadata})
	}
	text, ok := l.expression(path)
	if !ok {
		return steps
	}
	for _, name := range usedIn(text) {
		v, ok := l.named(name)
		if !ok {
			continue
		}
		if pos, ok := l.valueOf(v); ok {
			steps = append(steps, origin.Step{Position: pos, Kind: origin.StepVariable})
		}
	}
	if at.Evidence != origin.Nearest && len(steps) > 1 && !origin.SameLine(steps[len(steps)-1].Position, at.Position) {
		// With several variables, the line that contains them is the place, so the chain ends with it.
		if i := slices.IndexFunc(steps, func(s origin.Step) bool { return origin.SameLine(s.Position, at.Position) }); i >= 0 {
			last := steps[i]
			steps = append(slices.Delete(steps, i, i+1), last)
		}
	}
	return steps
}

// realSteps converts steps in the overlay to steps in the tree.
func (l *located) realSteps(steps []origin.Step) []origin.Step {
	out := make([]origin.Step, 0, len(steps))
	for _, s := range steps {
		of := l.isOfObject(s.Position)
		s.Position = l.real(s.Position)
		if s.Kustomization == l.path && (of || l.original == nil) {
			s.Kustomization = l.written("").Path
		} else {
			s.Kustomization = l.inTree(s.Kustomization)
		}
		out = append(out, s)
	}
	return out
}

// RemovalStep implements origin.History.
func (l *located) RemovalStep(_ string, last origin.Step) origin.Step { return last }

// Kustomizations implements origin.History.
func (l *located) Kustomizations() (entry tree.Position, through []origin.Kustomization) {
	entry, through = l.inner.Kustomizations()
	entry = l.real(entry)
	if l.original == nil { // the outermost file is generated
		through = slices.DeleteFunc(through, func(k origin.Kustomization) bool { return k.File == l.path })
	}
	for i := range through {
		through[i].Entry, through[i].File = l.real(through[i].Entry), l.inTree(through[i].File)
	}
	return entry, through
}

// DeletedBy implements origin.History.
func (l *located) DeletedBy(t *tree.Tree, dir string) []origin.Deletion {
	if l.home != nil {
		return nil // the tree is that of the repository
	}
	return l.inner.DeletedBy(t, dir)
}
