package lint

import (
	"context"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
)

// rule is one rule of lint.
type rule struct {
	// LintRule has the identifier, severity and title of the rule, for reports.
	report.LintRule
	// check adds a remark for each violation of the rule in a cluster.
	check func(context.Context, *cluster)
}

// rules returns all rules that are checked cluster by cluster. report.RuleRender is not among them:
// it is for files that do not render, see linter.broken.
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

// remark is a finding without a line. cluster.add sets the rule.
type remark struct {
	rule report.LintRule
	// severity is empty for the severity of the rule.
	severity report.Severity
	object   *admission.Object
	// fields are the fields to locate: the first one that is written is used.
	fields []string
	// line and column, from 1, are inside the first field. They are 0 for the whole field.
	line, column  int
	message, hint string
}
