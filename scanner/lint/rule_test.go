package lint

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/report"
)

// TestEveryRuleIsChecked compares the rules that reports may name with those that have a
// check.
func TestEveryRuleIsChecked(t *testing.T) {
	var checked []string
	for _, r := range rules() {
		checked = append(checked, r.ID)
	}
	want := slices.DeleteFunc(report.LintRuleIDs(), func(id string) bool { return id == report.RuleRender })
	if diff := cmp.Diff(want, checked); diff != "" {
		t.Errorf("rules (-report +checked):\n%s", diff)
	}
}
