package report

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A fingerprint does not depend on lines and messages, and differs for everything else.
func TestFingerprint(t *testing.T) {
	first := Finding{
		Root: "app", Operation: "CREATE", Cause: CauseValidation, Policy: "p", Binding: "b", Message: "5 is too many",
		Object: &Object{APIVersion: "v1", Kind: "ConfigMap", Namespace: "n", Name: "c"}, Validation: new(0),
	}
	change := func(edit func(*Finding)) Finding {
		f := first
		edit(&f)
		return f
	}
	same := []Finding{
		first,
		change(func(f *Finding) { f.Location = Location{Path: "x", StartLine: 9} }),
		change(func(f *Finding) { f.Message = "6 is too many" }),
		change(func(f *Finding) { f.Operation, f.Status = "UPDATE", StatusExisting }),
	}
	for i := range same {
		SetFingerprints(same[i : i+1])
		if same[i].Fingerprint != same[0].Fingerprint || len(same[i].Fingerprint) != fingerprintLength {
			t.Errorf("%d: fingerprint %q, not %q", i, same[i].Fingerprint, same[0].Fingerprint)
		}
	}
	others := []Finding{
		first,
		first, // a repeat
		change(func(f *Finding) { f.Operation = "DELETE" }),
		change(func(f *Finding) { f.Root = "other" }),
		change(func(f *Finding) { f.Policy, f.Binding = "b", "p" }),
		change(func(f *Finding) { f.Validation = new(1) }),
		change(func(f *Finding) { f.Validation = nil }),
		change(func(f *Finding) { f.Param = &ParamRef{Name: "x"} }),
		change(func(f *Finding) { f.Cause = CauseSchema }),
		change(func(f *Finding) { f.Cause, f.Message = CauseSchema, "other" }),
		change(func(f *Finding) { f.Object = nil }),
	}
	SetFingerprints(others)
	seen := map[string]int{}
	for i, f := range others {
		if j, ok := seen[f.Fingerprint]; ok {
			t.Errorf("findings %d and %d share a fingerprint", j, i)
		}
		seen[f.Fingerprint] = i
	}
}

func TestSortReport(t *testing.T) {
	at := func(path string, line, column int) Finding {
		return Finding{Location: Location{Path: path, StartLine: line, StartColumn: column}}
	}
	policy := func(name string, validation int) Finding {
		f := at("b", 2, 1)
		f.Policy, f.Validation = name, new(validation)
		return f
	}
	want := []Finding{at("a", 9, 1), at("b", 1, 7), at("b", 2, 1), policy("p", 0), policy("p", 1), policy("q", 0), at("b", 2, 3)}
	got := &Report{Findings: slices.Clone(want)}
	slices.Reverse(got.Findings)
	got.Sort()
	if diff := cmp.Diff(want, got.Findings); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}
