package render

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// What kustomize's own transformers and generators write carries no line. It is
// found by rule: the entry of a kustomization that writes such a field, and whose
// value is the field's.

// setField is a scalar of an object to be explained.
type setField struct {
	steps []fieldStep
	value string
	part  Part
	kind  string   // the object's
	names []string // the object's, see identity
	// through are the kustomizations the object went through, see identity; nil when
	// that is not known better than by its file.
	through []*kustomization
}

func (f setField) key() string { return f.steps[len(f.steps)-1].key }

func (f setField) under(parents ...string) bool {
	if len(f.steps) < 2 {
		return false
	}
	for _, p := range parents {
		if f.steps[len(f.steps)-2].key == p {
			return true
		}
	}
	return false
}

// set finds the entry that set a field of an object that was written in a file,
// the outermost kustomization first.
func (l *locator) set(file string, f setField) (Position, bool) {
	for _, k := range l.passing(f, file) {
		for _, rule := range []func(*kustomization, setField) (Position, bool){
			setReplicas, setNamespace, setLabel, setAnnotation, setName,
		} {
			if pos, ok := rule(k, f); ok {
				return pos, true
			}
		}
	}
	return Position{}, false
}

// passing lists the kustomizations that the object of a field went through, the one
// whose transformers come last first.
func (l *locator) passing(f setField, file string) []*kustomization {
	if f.through != nil {
		return f.through
	}
	return l.affecting(file)
}

// affecting lists the kustomizations that an object of a file passes through, and
// their components, the one whose transformers come last first.
func (l *locator) affecting(file string) []*kustomization {
	if known, ok := l.affected[file]; ok {
		return known
	}
	if l.affected == nil {
		l.affected = map[string][]*kustomization{}
	}
	l.affected[file] = l.findAffecting(file)
	return l.affected[file]
}

func (l *locator) findAffecting(file string) []*kustomization {
	hit := map[*kustomization]bool{}
	targets := map[string]bool{file: true}
	for _, k := range l.closure.files {
		if k.path == file { // a generated object
			hit[k], targets[k.dir] = true, true
		}
	}
	for changed := true; changed; {
		changed = false
		for _, e := range l.closure.entries {
			if e.target == "" || hit[e.from] || !targets[l.tree.resolve(e.target).real] {
				continue
			}
			hit[e.from], targets[e.from.dir] = true, true
			changed = true
		}
	}
	l.addComponents(hit)
	var out []*kustomization
	for _, k := range l.outermostFirst() {
		if hit[k] {
			own := l.builtins(k) // run after the kustomization's fields
			slices.Reverse(own)
			out = append(append(out, own...), k)
		}
	}
	return out
}

// outermostFirst are the kustomizations of the closure in the order opposite to
// that in which kustomize applies them: of one its resources, its components, its
// own transformers.
func (l *locator) outermostFirst() []*kustomization {
	if l.order != nil {
		return l.order
	}
	uses := map[*kustomization][]string{}
	for _, components := range []bool{false, true} {
		for _, e := range l.closure.entries {
			if e.target != "" && components == (e.kind == refBase) {
				uses[e.from] = append(uses[e.from], l.tree.resolve(e.target).real)
			}
		}
	}
	byDir, seen := map[string]*kustomization{}, map[*kustomization]bool{}
	for _, k := range l.closure.files {
		byDir[k.dir] = k
	}
	var visit func(k *kustomization)
	visit = func(k *kustomization) {
		if k == nil || seen[k] {
			return
		}
		seen[k] = true
		for _, dir := range uses[k] {
			visit(byDir[dir])
		}
		l.order = append(l.order, k)
	}
	for _, k := range l.closure.files {
		visit(k)
	}
	slices.Reverse(l.order)
	return l.order
}

// addComponents adds the components of kustomizations, which change everything
// their user has, and theirs.
func (l *locator) addComponents(hit map[*kustomization]bool) {
	for changed := true; changed; {
		changed = false
		for _, e := range l.closure.entries {
			if e.kind != refBase || !hit[e.from] {
				continue
			}
			dir := l.tree.resolve(e.target).real
			for _, k := range l.closure.files {
				if k.dir == dir && !hit[k] {
					hit[k], changed = true, true
				}
			}
		}
	}
}

func setReplicas(k *kustomization, f setField) (Position, bool) {
	if f.key() != "replicas" {
		return Position{}, false
	}
	for i, r := range k.spec.Replicas {
		if slices.Contains(f.names, r.Name) && strconv.FormatInt(r.Count, 10) == f.value {
			return k.position("replicas", i, "count"), true
		}
	}
	return Position{}, false
}

func setNamespace(k *kustomization, f setField) (Position, bool) {
	named := f.kind == "Namespace" && identifies(f.steps) && f.key() == "name"
	return k.position("namespace"), (named || f.key() == "namespace") && k.spec.Namespace != "" && k.spec.Namespace == f.value
}

func setLabel(k *kustomization, f setField) (Position, bool) {
	if !f.under("labels", "matchLabels", "selector") {
		return Position{}, false
	}
	for i, label := range k.spec.Labels {
		if v, ok := label.Pairs[f.key()]; ok && v == f.value {
			return k.position("labels", i, "pairs", f.key()), true
		}
	}
	v, ok := k.spec.CommonLabels[f.key()]
	return k.position("commonLabels", f.key()), ok && v == f.value
}

func setAnnotation(k *kustomization, f setField) (Position, bool) {
	v, ok := k.spec.CommonAnnotations[f.key()]
	return k.position("commonAnnotations", f.key()), ok && v == f.value && f.under("annotations")
}

// contentHash is what kustomize adds to the names of generated objects, in the
// alphabet it uses.
var contentHash = regexp.MustCompile(`-[bcdfghkmt2456789]{10}$`)

func setName(k *kustomization, f setField) (Position, bool) {
	if f.key() != "name" && !strings.HasSuffix(f.key(), "Name") { // as in serviceAccountName
		return Position{}, false
	}
	if p := k.spec.NamePrefix; p != "" && f.part != Back && strings.HasPrefix(f.value, p) {
		return k.position("namePrefix"), true
	}
	s := k.spec.NameSuffix
	return k.position("nameSuffix"), s != "" && f.part != Front && strings.HasSuffix(contentHash.ReplaceAllString(f.value, ""), s)
}
