package flux

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
)

// Needs implements Source.
func (s *Source) Needs(root render.Root) *render.Needs {
	if in := s.needsOfFiles(root); in != nil {
		return in
	}
	u, problem := s.prepare(root)
	if problem != nil {
		return &render.Needs{Trace: u.traceClaimed(), Problem: problem, Composition: render.Composition{Generated: map[string]bool{}}}
	}
	in := u.inner.Needs(u.asKustomization())
	in.Trace, in.Problem, in.Lacks = u.realTrace(in.Trace), u.realProblem(in.Problem), u.realLack(in.Lacks)
	for i := range in.Artifacts {
		at := u.real(in.Artifacts[i].Position)
		if u.isElsewhere(at.Path) {
			at = u.revision()
		}
		in.Artifacts[i].Position = at
	}
	in.Texts = u.texts
	return in
}

// texts returns the texts with the words of the objects that are not in files without variables: other files, the
// generated kustomization and the additions of the object, after substitution.
func (u *unit) texts(files [][]byte) (texts [][]byte, anyName bool) {
	texts = append(texts, u.data, u.addition())
	for _, p := range u.object.Spec.Patches {
		texts = append(texts, []byte(p.Patch))
	}
	texts = append(texts, files...)
	replace := u.substituter()
	if replace == nil {
		return texts, false
	}
	for i, text := range texts {
		replaced, reasons, err := replace.text(string(text))
		if anyName = anyName || err != nil || len(reasons) > 0; err == nil {
			texts[i] = []byte(replaced)
		}
	}
	return texts, anyName
}

// addition returns the metadata and additions of the object as text. It is not the whole object, because then each unit
// would seem to hold a Kustomization of Flux.
func (u *unit) addition() []byte {
	s := &u.object.Spec
	data, _ := json.Marshal([]any{u.object.Metadata, s.CommonMetadata, s.TargetNamespace, s.NamePrefix, s.NameSuffix, s.Images}) // strings
	return data
}

// needsOfFiles returns the needs of a unit whose directory has a kustomization with all its files in the source. They
// are known without generating anything. It returns nil for other units.
func (s *Source) needsOfFiles(root render.Root) *render.Needs {
	if root.Unit == nil || root.Unit.Problem != nil || root.Unit.Artifact != nil {
		return nil
	}
	u := &unit{source: s, root: root, dir: root.Dir, generated: &generated{}}
	var err error
	if u.object, err = Parse(root.Unit.Object); err != nil || len(u.object.Spec.Components) > 0 {
		return nil
	}
	if u.view, err = s.views.of(root.Unit.Checkout); err != nil {
		return nil
	}
	file, ok := kustomizationIn(u.view, root.Dir)
	if !ok {
		return nil
	}
	in := s.files.Needs(u.asKustomization())
	if in.Problem != nil || in.Free || len(in.Artifacts) > 0 || !u.view.holdsAll(in.Trace) {
		return nil
	}
	u.path = file
	in.Trace, in.Texts = u.realTrace(in.Trace), u.texts
	in.Patched = in.Patched || len(u.object.Spec.Patches) > 0
	in.Affixes = append(in.Affixes, u.affixes()...)
	return in
}

// affixes returns the prefix and suffix that the object adds to names.
func (u *unit) affixes() []string {
	return slices.DeleteFunc([]string{u.object.Spec.NamePrefix, u.object.Spec.NameSuffix}, func(affix string) bool { return affix == "" })
}

// holdsAll reports whether a source contains everything that was read from the tree, unchanged.
func (v *viewed) holdsAll(read tree.Trace) bool {
	for name, id := range read.Reads {
		if strings.HasPrefix(id, tree.LinkMark) {
			return false
		}
		if to := v.tree.Resolve(name); to.Err != nil || to.Real != name {
			return false
		}
	}
	return true
}
