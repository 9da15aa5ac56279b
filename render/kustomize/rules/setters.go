package rules

import (
	"slices"
	"strconv"
	"strings"

	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// Fields that kustomize's own transformers and generators write have no line. A rule finds the entry of a
// kustomization that writes such a field and has the field's value.

// setField is a scalar of an object whose place is wanted.
type setField struct {
	steps []origin.PathStep
	value string
	part  origin.Part
	kind  string   // the object's
	names []string // the object's, see identity
	// kustomizations are those the object went through, see identity; nil if only its file is known.
	kustomizations []*build.Kustomization
	sources        map[string]bool // of the replacements already visited
}

func (f setField) key() string { return f.steps[len(f.steps)-1].Key }

func (f setField) under(parents ...string) bool {
	if len(f.steps) < 2 {
		return false
	}
	for _, p := range parents {
		if f.steps[len(f.steps)-2].Key == p {
			return true
		}
	}
	return false
}

// set finds the entry that set a field of an object from a file, the outermost kustomization first.
func (l *locator) set(file string, f setField) (tree.Position, bool) {
	for _, k := range l.passing(f, file) {
		for _, rule := range []func(*build.Kustomization, setField) (tree.Position, bool){
			setReplicas, setNamespace, setLabel, setAnnotation, setName,
		} {
			if pos, ok := rule(k, f); ok {
				return pos, true
			}
		}
	}
	return tree.Position{}, false
}

// passing returns the kustomizations that the object of a field went through, the last applied first.
func (l *locator) passing(f setField, file string) []*build.Kustomization {
	if f.kustomizations != nil {
		return f.kustomizations
	}
	return l.affecting(file)
}

// affecting returns the kustomizations and components that an object of a file goes through, the last applied
// first.
func (l *locator) affecting(file string) []*build.Kustomization {
	if known, ok := l.affected[file]; ok {
		return known
	}
	if l.affected == nil {
		l.affected = map[string][]*build.Kustomization{}
	}
	l.affected[file] = l.findAffecting(file)
	return l.affected[file]
}

func (l *locator) findAffecting(file string) []*build.Kustomization {
	hit := map[*build.Kustomization]bool{}
	targets := map[string]bool{file: true}
	for _, k := range l.closure.Files {
		if k.Path == file || l.closure.InflatedBy(file) == k { // a generated object, or one of a chart
			hit[k], targets[k.Dir] = true, true
		}
	}
	for changed := true; changed; {
		changed = false
		for _, e := range l.closure.Entries {
			if e.Target == "" || hit[e.From] || !targets[l.tree.Resolve(e.Target).Real] {
				continue
			}
			hit[e.From], targets[e.From.Dir] = true, true
			changed = true
		}
	}
	l.addComponents(hit)
	var out []*build.Kustomization
	for _, k := range l.outermostFirst() {
		if hit[k] {
			own := l.builtins(k) // run after the kustomization's fields
			slices.Reverse(own)
			out = append(append(out, own...), k)
		}
	}
	return out
}

// outermostFirst returns the kustomizations of the closure in reverse order of application. Kustomize applies
// a kustomization's resources first, then its components, then its own transformers.
func (l *locator) outermostFirst() []*build.Kustomization {
	if l.order != nil {
		return l.order
	}
	uses := map[*build.Kustomization][]string{}
	for _, components := range []bool{false, true} {
		for _, e := range l.closure.Entries {
			if e.Target != "" && components == (e.Kind == build.RefBase) {
				uses[e.From] = append(uses[e.From], l.tree.Resolve(e.Target).Real)
			}
		}
	}
	byDir, seen := map[string]*build.Kustomization{}, map[*build.Kustomization]bool{}
	for _, k := range l.closure.Files {
		byDir[k.Dir] = k
	}
	var visit func(k *build.Kustomization)
	visit = func(k *build.Kustomization) {
		if k == nil || seen[k] {
			return
		}
		seen[k] = true
		for _, dir := range uses[k] {
			visit(byDir[dir])
		}
		l.order = append(l.order, k)
	}
	for _, k := range l.closure.Files {
		visit(k)
	}
	slices.Reverse(l.order)
	return l.order
}

// addComponents adds the components of kustomizations, and their components. They change all objects of the
// kustomization that uses them.
func (l *locator) addComponents(hit map[*build.Kustomization]bool) {
	for changed := true; changed; {
		changed = false
		for _, e := range l.closure.Entries {
			if e.Kind != build.RefBase || !hit[e.From] {
				continue
			}
			dir := l.tree.Resolve(e.Target).Real
			for _, k := range l.closure.Files {
				if k.Dir == dir && !hit[k] {
					hit[k], changed = true, true
				}
			}
		}
	}
}

func setReplicas(k *build.Kustomization, f setField) (tree.Position, bool) {
	if f.key() != "replicas" {
		return tree.Position{}, false
	}
	for i, r := range k.Spec.Replicas {
		if slices.Contains(f.names, r.Name) && strconv.FormatInt(r.Count, 10) == f.value {
			return k.Position("replicas", i, "count"), true
		}
	}
	return tree.Position{}, false
}

func setNamespace(k *build.Kustomization, f setField) (tree.Position, bool) {
	named := f.kind == "Namespace" && origin.IsIdentity(f.steps) && f.key() == "name"
	return k.Position("namespace"), (named || f.key() == "namespace") && k.Spec.Namespace != "" && k.Spec.Namespace == f.value
}

func setLabel(k *build.Kustomization, f setField) (tree.Position, bool) {
	if !f.under("labels", "matchLabels", "selector") {
		return tree.Position{}, false
	}
	for i, label := range k.Spec.Labels {
		if v, ok := label.Pairs[f.key()]; ok && v == f.value {
			return k.Position("labels", i, "pairs", f.key()), true
		}
	}
	v, ok := k.Spec.CommonLabels[f.key()]
	return k.Position("commonLabels", f.key()), ok && v == f.value
}

func setAnnotation(k *build.Kustomization, f setField) (tree.Position, bool) {
	v, ok := k.Spec.CommonAnnotations[f.key()]
	return k.Position("commonAnnotations", f.key()), ok && v == f.value && f.under("annotations")
}

func setName(k *build.Kustomization, f setField) (tree.Position, bool) {
	if f.key() != "name" && !strings.HasSuffix(f.key(), "Name") { // as in serviceAccountName
		return tree.Position{}, false
	}
	if p := k.Spec.NamePrefix; p != "" && f.part != origin.Back && strings.HasPrefix(f.value, p) {
		return k.Position("namePrefix"), true
	}
	s := k.Spec.NameSuffix
	return k.Position("nameSuffix"), s != "" && f.part != origin.Front && strings.HasSuffix(origin.ContentHash.ReplaceAllString(f.value, ""), s)
}
