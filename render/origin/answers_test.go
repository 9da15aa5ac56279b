package origin_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// past is the history of an object in tests.
type past struct{}

func (past) Steps(path string, part origin.Part, at origin.Place) []origin.Step {
	return []origin.Step{{Position: tree.Position{Path: path, Line: int(part) + 1}}, {Position: at.Position, Kind: origin.StepPatch}}
}
func (past) RemovalStep(list string, last origin.Step) origin.Step {
	last.Kustomization = list
	return last
}
func (past) Kustomizations() (tree.Position, []origin.Kustomization) {
	return tree.Position{Line: 9}, []origin.Kustomization{{File: "k"}}
}
func (past) DeletedBy(*tree.Tree, string) []origin.Deletion { return []origin.Deletion{{}} }

// written returns two origins: one with all data, and one with only a document.
func written() []*origin.Origin {
	value := origin.Place{Position: tree.Position{Path: "v\xff.yaml", Line: 7}, Evidence: origin.Marked}
	return []*origin.Origin{
		origin.Known(origin.Places{
			Document: tree.Position{Path: "a.yaml", Line: 3},
			Find: func(path string, part origin.Part) origin.Place {
				return origin.Place{Position: tree.Position{Path: path, Line: 10 + int(part)}, Evidence: origin.Inferred, Text: &value, Why: "why"}
			},
			Removals: func(list string) []origin.Removal {
				if list == "whole" {
					return nil
				}
				return []origin.Removal{{Element: int64(1), Position: tree.Position{Line: 5}}}
			},
			History: past{},
		}),
		origin.Known(origin.Places{Document: tree.Position{Path: "b.yaml"}, Why: "not known"}),
	}
}

// asked returns the results of all methods of an origin.
func asked(o *origin.Origin) []any {
	all := []any{o.Document(), o.HasFields()}
	for _, part := range []origin.Part{origin.Whole, origin.Front, origin.Back} {
		all = append(all, o.Place("spec.x", part), o.Chain("spec.x", part))
	}
	entry, through := o.Kustomizations()
	all = append(all, o.Removals("whole"), o.Removals("less"), o.Removals("less"), entry, through, o.DeletedBy(nil, ""))
	for _, r := range o.Removals("less") {
		all = append(all, o.RemovalChain("less", r))
	}
	return all
}

// TestAnswers checks that origins give the same results as in another process.
func TestAnswers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "answers")
	var none *origin.Answers
	for i, a := range []*origin.Answers{none, origin.OpenAnswers(file), origin.OpenAnswers(file)} {
		if i == 2 {
			a = origin.OpenAnswers(file)
		}
		got, err := a.Of("root", never, func() ([]*origin.Origin, error) { return written(), nil })
		if err != nil {
			t.Fatal(err)
		}
		for j, o := range written() {
			if d := cmp.Diff(asked(o), asked(got[j])); d != "" {
				t.Errorf("object %d, time %d (-want +got):\n%s", j, i, d)
			}
		}
		if err := a.Save(); err != nil {
			t.Fatal(err)
		}
	}
}

// never is the function more for origins that depend on nothing else.
func never() bool { return false }

// TestAnswersNotKept checks that results which something else may have influenced are returned, but not
// cached.
func TestAnswersNotKept(t *testing.T) {
	file, found, more := filepath.Join(t.TempDir(), "answers"), 0, false
	open := func() (*origin.Answers, []*origin.Origin) {
		a := origin.OpenAnswers(file)
		all, err := a.Of("root", func() bool { return more }, func() ([]*origin.Origin, error) { found++; return written(), nil })
		if err != nil {
			t.Fatal(err)
		}
		return a, all
	}
	a, all := open()
	all[0].Place("spec.x", origin.Whole)
	more = true
	for range 2 {
		for i, want := range written() {
			if diff := cmp.Diff(asked(want), asked(all[i])); diff != "" {
				t.Errorf("object %d (-want +got):\n%s", i, diff)
			}
		}
	}
	if err := a.Save(); err != nil {
		t.Fatal(err)
	}
	more, found = false, 0
	_, all = open()
	if all[0].Place("spec.x", origin.Whole); found != 0 {
		t.Error("what was kept is found again")
	}
	if all[0].Removals("whole"); found != 1 {
		t.Error("what was not to be kept is known")
	}
}

// TestAnswersSpare checks that cached results are not computed again, and others are.
func TestAnswersSpare(t *testing.T) {
	file := filepath.Join(t.TempDir(), "answers")
	found := 0
	open := func() (*origin.Answers, *origin.Origin) {
		a := origin.OpenAnswers(file)
		all, err := a.Of("root", never, func() ([]*origin.Origin, error) { found++; return written(), nil })
		if err != nil {
			t.Fatal(err)
		}
		return a, all[0]
	}
	a, o := open()
	o.Chain("spec.x", origin.Whole)
	o.Removals("whole")
	a.Note("root", "proof", []string{"a"})
	a.Note("another", "proof", []string{"b"})
	if err := a.Save(); err != nil {
		t.Fatal(err)
	}
	a, o = open()
	o.Chain("spec.x", origin.Whole)
	o.Removals("whole")
	o.Document()
	var note []string
	if !a.Noted("root", "proof", &note) || len(note) != 1 || note[0] != "a" || a.Noted("another", "proof", &note) || a.Noted("root", "other", &note) {
		t.Errorf("noted %v", note)
	}
	if found != 1 {
		t.Errorf("found %d times what was answered", found)
	}
	if o.Place("spec.y", origin.Whole).Path != "spec.y" || found != 2 {
		t.Errorf("found %d times with a new question", found)
	}
	if _, err := a.Of("other", never, func() ([]*origin.Origin, error) { return nil, errors.New("x") }); err == nil {
		t.Error("no error")
	}
}

// TestAnswersDamaged checks that a damaged file counts as none.
func TestAnswersDamaged(t *testing.T) {
	file := filepath.Join(t.TempDir(), "answers")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := origin.OpenAnswers(file).Of("root", never, func() ([]*origin.Origin, error) { return written(), nil }); err != nil || len(got) != 2 {
		t.Errorf("%v, %v", got, err)
	}
	missing := origin.OpenAnswers(filepath.Join(t.TempDir(), "a", "b"))
	if err := missing.Save(); err != nil {
		t.Errorf("nothing to keep: %v", err)
	}
	if _, err := missing.Of("root", never, func() ([]*origin.Origin, error) { return written(), nil }); err != nil {
		t.Fatal(err)
	}
	if err := missing.Save(); err == nil {
		t.Error("no error of a directory that is not there")
	}
}
