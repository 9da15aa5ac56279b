package change

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/deploy/releases"
	"github.com/preadmit/preadmit/render/helm/lookup"
	"github.com/preadmit/preadmit/render/tree"
	"github.com/preadmit/preadmit/scanner/admission"
)

// Surroundings are what the template function lookup of a release can find.
type Surroundings struct {
	// Complete are the kinds of which all objects in the cluster are known.
	Complete []schema.GroupKind
	// Has reports whether a root belongs to the target of the release.
	Has func(id render.RootID) bool
	// Paths are the configured paths of the target's policies and context.
	Paths []string
}

// maxLookupRounds is the maximum number of times that releases are rendered to find further lookups.
const maxLookupRounds = 4

// LookUp sets the results of lookups in charts of releases, as far as they are certain: for kinds that are
// complete, objects that are the same before and after the change and that no release makes, and objects that
// nothing makes. Other results depend on the order of applying. around returns the surroundings of a release; ok
// is false if it has none or several. extras are objects given in addition to the trees.
func (c *Change) LookUp(ctx context.Context, extras []*admission.Object, around func(id render.RootID) (s Surroundings, ok bool, err error)) error {
	for range maxLookupRounds {
		answers := map[*Side]map[render.RootID][]render.Lookup{}
		any := false
		for _, side := range c.Trees() {
			answers[side] = map[render.RootID][]render.Lookup{}
			for _, root := range side.lookingUp() {
				s, ok, err := around(side.ID(root))
				if err != nil {
					return err
				}
				if !ok || len(s.Complete) == 0 {
					continue
				}
				l := &lookups{Change: c, ctx: ctx, root: root, around: s, extras: extras}
				found := l.notOwn(l.answers(side.renderAndStore(ctx, root).Queries))
				if err := ctx.Err(); err != nil {
					return err
				}
				answers[side][root.RootID] = found
				any = any || len(found) > 0
			}
		}
		if !any {
			return nil
		}
		for side, found := range answers {
			for id, lookups := range found {
				side.addLookups(id, lookups)
			}
		}
	}
	return nil
}

// lookingUp returns the releases of a tree whose charts may use lookup with helm-controller's own rights.
func (s *Side) lookingUp() []render.Root {
	if s.Graph == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.Graph.Units), func(root render.Root) bool {
		if root.Kind != render.KindHelm || root.Unit.Release == nil || root.Unit.Problem != nil || root.Unit.Apply.Suspended || actsAsOther(root.Unit) {
			return true
		}
		in, _ := s.Needs(root)
		return in.Problem != nil || in.Shared == nil || !in.Shared().Holds(tree.Query{How: tree.WholeWord, Text: "lookup"})
	})
}

// actsAsOther reports whether a release is not installed as helm-controller's own user or not in its own cluster:
// what other users may read is not known.
func actsAsOther(u *render.Unit) bool {
	var h struct {
		Spec struct {
			KubeConfig json.RawMessage `json:"kubeConfig"`
		} `json:"spec"`
	}
	return json.Unmarshal(u.Object, &h) != nil || u.Apply.User != releases.Controller || len(h.Spec.KubeConfig) > 0
}

// renderAndStore renders a root of a tree and stores the result.
func (s *Side) renderAndStore(ctx context.Context, root render.Root) *render.Result {
	r := s.resultOf(ctx, root)
	if s.Graph.Results == nil {
		s.Graph.Results = map[render.RootID]*render.Result{}
	}
	s.Graph.Results[root.RootID] = r
	return r
}

// addLookups adds lookup results to a release.
func (s *Side) addLookups(id render.RootID, lookups []render.Lookup) {
	if len(lookups) == 0 {
		return
	}
	for _, roots := range [][]render.Root{s.Graph.Units, s.Found.Roots} {
		for i, root := range roots {
			if root.RootID == id {
				roots[i] = withLookups(root, lookups)
			}
		}
	}
}

// withLookups returns a copy of the root of a release with more lookup results.
func withLookups(root render.Root, lookups []render.Lookup) render.Root {
	u, r := *root.Unit, *root.Unit.Release
	r.Lookups = slices.Concat(r.Lookups, lookups)
	u.Release = &r
	root.Unit = &u
	return root
}

// lookups computes the lookup results for one release.
type lookups struct {
	*Change
	ctx    context.Context
	root   render.Root
	around Surroundings
	extras []*admission.Object
}

// answers returns the results that are known.
func (l *lookups) answers(asked []render.Query) []render.Lookup {
	var all []render.Lookup
	for _, q := range asked {
		if found, ok := l.answer(q); ok {
			all = append(all, found)
		}
	}
	return all
}

// answer returns the result of a query; ok is false if it is not certain.
func (l *lookups) answer(q render.Query) (answer render.Lookup, ok bool) {
	w, ok := lookup.Of(q)
	if !ok || !slices.Contains(l.around.Complete, w.Kind) {
		return answer, false
	}
	var before []*render.Object
	for i, side := range l.Trees() {
		found, known := l.find(side, w)
		if !known || i > 0 && !sameObjects(before, found) {
			return answer, false
		}
		before = found
	}
	answer.Query = q
	switch {
	case len(before) == 0 && q.Name == "":
		answer.Found = tree.Encode(map[string]any{"apiVersion": q.APIVersion, "kind": q.Kind + "List", "metadata": map[string]any{"resourceVersion": ""}, "items": []any{}})
		answer.Unknown = []render.Unknown{{Path: []string{"metadata", "resourceVersion"}, Reason: lookup.ServerReason}}
		return answer, true
	case len(before) == 0:
		return answer, true
	case q.Name == "":
		return answer, false
	}
	answer.Found, answer.Unknown, ok = lookup.Stored(q.Kind, before[0])
	return answer, ok
}

func sameObjects(a, b []*render.Object) bool {
	return slices.EqualFunc(a, b, func(x, y *render.Object) bool {
		return bytes.Equal(x.JSON, y.JSON) && reflect.DeepEqual(x.Unknown, y.Unknown)
	})
}

// find returns the objects of a tree that match a lookup, at most one if the lookup has a name; known is false if
// there may be others.
func (l *lookups) find(side *Side, w lookup.Request) (found []*render.Object, known bool) {
	for _, root := range side.Found.Roots {
		here, elsewhere := l.isHere(side, root)
		if elsewhere {
			continue
		}
		more, known := l.findIn(side, root, w)
		if !known || len(more) > 0 && !here {
			return nil, false
		}
		found = append(found, more...)
	}
	if len(found) == 0 {
		if found, known = l.given(side, w); !known {
			return nil, false
		}
	}
	for _, o := range found {
		if w.Name != "" && !sameObjects([]*render.Object{o}, found[:1]) {
			return nil, false
		}
	}
	if w.Name != "" && len(found) > 1 {
		found = found[:1]
	}
	return found, true
}

// isHere reports whether a root is applied to the release's cluster, and whether it is applied only to others.
func (l *lookups) isHere(side *Side, root render.Root) (here, elsewhere bool) {
	id := side.ID(root)
	clusters := l.ClustersOn(side, id)
	switch {
	case !l.around.Has(id):
		return false, true
	case slices.Contains(clusters, l.root.Unit.Cluster):
		return true, false
	}
	return false, !slices.Contains(clusters, "")
}

// isOwn reports whether a root is the release itself.
func (l *lookups) isOwn(root render.Root) bool {
	return root.Object == l.root.Object && root.Cluster == l.root.Cluster
}

// notOwn returns the results about objects that the release does not make itself, given these results. Before an
// installation none of its objects exist, but before an upgrade those of its previous version do.
func (l *lookups) notOwn(answers []render.Lookup) []render.Lookup {
	if r := l.root.Unit.Release; !r.Upgrade && r.Reinstalled == "" {
		return answers
	}
	for range maxLookupRounds {
		var left []render.Lookup
		for _, a := range answers {
			w, _ := lookup.Of(a.Query)
			if !l.mayMake(answers, w) {
				left = append(left, a)
			}
		}
		if len(left) == len(answers) {
			return answers
		}
		answers = left
	}
	return nil
}

// mayMake reports whether the release may make an object that matches, in one of the trees.
func (l *lookups) mayMake(answers []render.Lookup, w lookup.Request) bool {
	for _, side := range l.Trees() {
		for _, root := range side.Graph.Units {
			if !l.isOwn(root) {
				continue
			}
			r := side.renderAndStore(l.ctx, withLookups(root, answers))
			if r.Problem != nil && len(r.Queries) > 0 || r.Lacks != nil || slices.ContainsFunc(r.Objects, func(o *render.Object) bool { return w.Match(o) != lookup.Differs }) {
				return true
			}
		}
	}
	return false
}

// findIn returns the matching objects of another root; known is false if the root may make one.
func (l *lookups) findIn(side *Side, root render.Root, w lookup.Request) (found []*render.Object, known bool) {
	if l.isOwn(root) {
		return nil, true
	}
	in, of := side.Needs(root)
	if in.Problem != nil {
		return nil, false
	}
	if !of.MayHold(in, render.Mention{Group: w.Kind.Group, Kind: w.Kind.Kind, Name: w.Name}) {
		return nil, true
	}
	r := side.renderAndStore(l.ctx, root)
	if r.Problem != nil || r.Lacks != nil {
		return nil, false
	}
	for _, o := range r.Objects {
		switch w.Match(o) {
		case lookup.MayMatch:
			return nil, false
		case lookup.Matches:
			if root.Kind == render.KindHelm || o.Role != render.RoleObject || Suspended(root) || bytes.Contains(o.JSON, []byte(fluxReconcile)) || bytes.Contains(o.JSON, []byte(fluxApply)) {
				return nil, false
			}
			found = append(found, o)
		}
	}
	return found, true
}

// given returns the matching objects of configured paths and extras.
func (l *lookups) given(side *Side, w lookup.Request) (found []*render.Object, known bool) {
	var all []*render.Object
	for _, p := range l.around.Paths {
		roots, err := side.givenRoots(p)
		if err != nil {
			return nil, false
		}
		for _, root := range roots {
			r := side.renderAndStore(l.ctx, root)
			if r.Problem != nil || r.Lacks != nil {
				return nil, false
			}
			all = append(all, r.Objects...)
		}
	}
	for _, o := range l.extras {
		text, err := o.JSON()
		if err != nil {
			return nil, false
		}
		all = append(all, &render.Object{JSON: text, Unknown: o.Unknown})
	}
	for _, o := range all {
		switch w.Match(o) {
		case lookup.MayMatch:
			return nil, false
		case lookup.Matches:
			found = append(found, o)
		}
	}
	return found, true
}
