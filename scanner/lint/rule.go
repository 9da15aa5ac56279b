package lint

import (
	"context"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
)

// rule is one thing that lint looks for.
type rule struct {
	// LintRule has what reports contain about the rule: identifier, severity and title.
	report.LintRule
	// check adds a remark for each place in a cluster where the rule does not hold.
	check func(context.Context, *cluster)
}

// rules returns all rules that are checked cluster by cluster. report.RuleRender is not
// among them: it is about files that do not render, see linter.broken.
func rules() []rule {
	checks := map[string]func(context.Context, *cluster){
		report.RuleRefused:          checkRefused,
		report.RuleLegacyVersion:    checkLegacyVersion,
		report.RuleServerWarning:    checkServerWarning,
		report.RuleTypeCheck:        checkTypes,
		report.RuleUnboundPolicy:    checkUnboundPolicy,
		report.RuleUnknownPolicy:    checkUnknownPolicy,
		report.RuleNullParams:       checkNullParams,
		report.RuleUnusedParamRef:   checkUnusedParamRef,
		report.RuleUnknownParamKind: checkParamKind,
		report.RuleParamScope:       checkParamScope,
		report.RuleMissingParam:     checkMissingParam,
		report.RuleParamAccess:      checkParamAccess,
		report.RuleNamespaces:       checkNamespaceSelector,
		report.RuleUnknownResource:  checkUnknownResource,
		report.RuleUnknownGroup:     checkUnknownGroup,
		report.RuleUnservedVersion:  checkUnservedVersion,
		report.RuleNeverMatches:     checkNeverMatches,
		report.RuleCost:             checkCost,
		report.RuleDuplicateVar:     checkDuplicateVariable,
		report.RuleUnusedVar:        checkUnusedVariable,
		report.RuleNamespaceObject:  checkNamespaceObject,
		report.RuleAuthorizer:       checkAuthorizer,
		report.RuleEscapedField:     checkEscapedField,
		report.RuleMessage:          checkMessage,
		report.RulePatch:            checkPatch,
		report.RuleReinvocation:     checkReinvocation,
	}
	var all []rule
	for _, r := range report.LintRules() {
		if check := checks[r.ID]; check != nil {
			all = append(all, rule{r, check})
		}
	}
	return all
}

// remark is a finding that has no line yet. The rule that is checked adds it.
type remark struct {
	rule report.LintRule
	// severity is that of the rule when it is empty.
	severity report.Severity
	object   *admission.Object
	// fields are where to point: at the first of them that is written.
	fields []string
	// line and column, from 1, are inside the first field. They are 0 for the field as
	// a whole.
	line, column  int
	message, hint string
}
