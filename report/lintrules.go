package report

// LintRule is a rule of lint. docs/lint.md has the table of all rules.
type LintRule struct {
	// ID names the rule, in kebab-case.
	ID string
	// Severity is the usual severity of its findings. One that is less certain or less
	// harmful has a lower severity.
	Severity Severity
	// Title is a short description of the problem.
	Title string
}

// Identifiers of the rules.
const (
	RuleRender           = "render"
	RuleRefused          = "refused"
	RuleLegacyVersion    = "legacy-version"
	RuleServerWarning    = "server-warning"
	RuleTypeCheck        = "type-check"
	RuleUnboundPolicy    = "unbound-policy"
	RuleUnknownPolicy    = "unknown-policy"
	RuleNullParams       = "null-params"
	RuleUnusedParamRef   = "unused-param-ref"
	RuleUnknownParamKind = "unknown-param-kind"
	RuleParamScope       = "param-scope"
	RuleMissingParam     = "missing-param"
	RuleParamAccess      = "param-access"
	RuleNamespaces       = "namespace-selector"
	RuleUnknownResource  = "unknown-resource"
	RuleUnknownGroup     = "unknown-group"
	RuleUnservedVersion  = "unserved-version"
	RuleNeverMatches     = "never-matches"
	RuleCost             = "cost"
	RuleDuplicateVar     = "duplicate-variable"
	RuleUnusedVar        = "unused-variable"
	RuleNamespaceObject  = "namespace-object"
	RuleAuthorizer       = "authorizer"
	RuleEscapedField     = "escaped-field"
	RuleMessage          = "message"
	RulePatch            = "patch"
	RuleReinvocation     = "reinvocation"
)

// LintRules returns all rules, in the order of the documentation.
func LintRules() []LintRule {
	return []LintRule{
		{RuleRender, SeverityError, "a file with policies does not render, so what is in its root is unknown"},
		{RuleRefused, SeverityError, "the API server would refuse to create the object"},
		{RuleLegacyVersion, SeverityWarning, "the API version is not served any more"},
		{RuleServerWarning, SeverityWarning, "the API server warns of the object, as of a field that it drops"},
		{RuleTypeCheck, SeverityWarning, "an expression does not fit the kinds that the policy matches"},
		{RuleUnboundPolicy, SeverityWarning, "no binding binds the policy, so it does nothing"},
		{RuleUnknownPolicy, SeverityWarning, "the binding's policy does not exist"},
		{RuleNullParams, SeverityWarning, "the policy has a paramKind and the binding no paramRef: params is null"},
		{RuleUnusedParamRef, SeverityWarning, "the binding has a paramRef and the policy no paramKind"},
		{RuleUnknownParamKind, SeverityWarning, "nothing defines the kind of the params"},
		{RuleParamScope, SeverityError, "the params cannot be looked up as paramRef defines"},
		{RuleMissingParam, SeverityWarning, "the params do not exist"},
		{RuleParamAccess, SeverityError, "the author may not read what paramKind or paramRef refers to"},
		{RuleNamespaces, SeverityWarning, "the namespaceSelector selects no namespace that is known"},
		{RuleUnknownResource, SeverityWarning, "a rule names a resource that is not served"},
		{RuleUnknownGroup, SeverityNote, "a rule names an API group that has none of its resources"},
		{RuleUnservedVersion, SeverityNote, "a rule names an API version in which none of its resources is served"},
		{RuleNeverMatches, SeverityError, "no request can match"},
		{RuleCost, SeverityWarning, "expressions may cost more than the API server allows"},
		{RuleDuplicateVar, SeverityWarning, "a variable is defined twice, and the last one counts"},
		{RuleUnusedVar, SeverityNote, "a variable is never used"},
		{RuleNamespaceObject, SeverityWarning, "a match condition reads namespaceObject, which is null there"},
		{RuleAuthorizer, SeverityWarning, "an expression asks the authorizer where there is none at run time"},
		{RuleEscapedField, SeverityWarning, "an expression escapes the name of a field, which does not work at run time"},
		{RuleMessage, SeverityNote, "a validation has no message that is sure to be shown"},
		{RulePatch, SeverityWarning, "a mutation makes a patch that the API server does not accept"},
		{RuleReinvocation, SeverityWarning, "a policy that is invoked again changes the object twice"},
	}
}

// LintRuleIDs returns the identifiers of all rules, in order.
func LintRuleIDs() []string {
	var ids []string
	for _, r := range LintRules() {
		ids = append(ids, r.ID)
	}
	return ids
}
