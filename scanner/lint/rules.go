package lint

import "slices"

// Rule is one thing lint looks for. docs/lint.md has the table of all.
type Rule struct {
	// ID names the rule, in kebab-case.
	ID string
	// Severity is that of its findings, unless one is less certain or less harmful
	// than most.
	Severity Severity
	// Title says what is wrong, in a few words.
	Title string
}

// Identifiers of the rules.
const (
	ruleRender           = "render"
	ruleRefused          = "refused"
	ruleLegacyVersion    = "legacy-version"
	ruleServerWarning    = "server-warning"
	ruleTypeCheck        = "type-check"
	ruleUnboundPolicy    = "unbound-policy"
	ruleUnknownPolicy    = "unknown-policy"
	ruleNullParams       = "null-params"
	ruleUnusedParamRef   = "unused-param-ref"
	ruleUnknownParamKind = "unknown-param-kind"
	ruleParamScope       = "param-scope"
	ruleMissingParam     = "missing-param"
	ruleParamAccess      = "param-access"
	ruleNamespaces       = "namespace-selector"
	ruleUnknownResource  = "unknown-resource"
	ruleUnknownGroup     = "unknown-group"
	ruleUnservedVersion  = "unserved-version"
	ruleNeverMatches     = "never-matches"
	ruleCost             = "cost"
	ruleDuplicateVar     = "duplicate-variable"
	ruleUnusedVar        = "unused-variable"
	ruleNamespaceObject  = "namespace-object"
	ruleAuthorizer       = "authorizer"
	ruleEscapedField     = "escaped-field"
	ruleMessage          = "message"
)

// Rules lists all rules, in the order of the documentation.
func Rules() []Rule {
	return []Rule{
		{ruleRender, SeverityError, "a file with policies does not render, so what is in its root is unknown"},
		{ruleRefused, SeverityError, "the API server would refuse to create the object"},
		{ruleLegacyVersion, SeverityWarning, "the API version is not served any more"},
		{ruleServerWarning, SeverityWarning, "the API server warns of the object, as of a field that it drops"},
		{ruleTypeCheck, SeverityWarning, "the API server's type check warns of an expression"},
		{ruleUnboundPolicy, SeverityWarning, "no binding binds the policy, so it does nothing"},
		{ruleUnknownPolicy, SeverityWarning, "the binding's policy does not exist"},
		{ruleNullParams, SeverityWarning, "the policy takes params and the binding gives none: params is null"},
		{ruleUnusedParamRef, SeverityWarning, "the binding gives params that the policy does not take"},
		{ruleUnknownParamKind, SeverityWarning, "nothing defines the kind of the params"},
		{ruleParamScope, SeverityError, "the params cannot be looked up where the binding says"},
		{ruleMissingParam, SeverityWarning, "the params do not exist"},
		{ruleParamAccess, SeverityError, "the author may not read what paramKind or paramRef refers to"},
		{ruleNamespaces, SeverityWarning, "the namespaceSelector selects no namespace that is known"},
		{ruleUnknownResource, SeverityWarning, "a rule names a resource that is not served"},
		{ruleUnknownGroup, SeverityNote, "a rule names an API group that has none of its resources"},
		{ruleUnservedVersion, SeverityNote, "a rule names an API version in which none of its resources is served"},
		{ruleNeverMatches, SeverityError, "no request can match"},
		{ruleCost, SeverityWarning, "expressions may cost more than the API server allows"},
		{ruleDuplicateVar, SeverityWarning, "a variable is defined twice, and the last one counts"},
		{ruleUnusedVar, SeverityNote, "a variable is never used"},
		{ruleNamespaceObject, SeverityWarning, "a match condition reads namespaceObject, which is null there"},
		{ruleAuthorizer, SeverityWarning, "an expression asks the authorizer where there is none at run time"},
		{ruleEscapedField, SeverityWarning, "an expression escapes the name of a field, which does not work at run time"},
		{ruleMessage, SeverityNote, "a validation has no message that is sure to be shown"},
	}
}

// RuleIDs are the identifiers of all rules, in order.
func RuleIDs() []string {
	var ids []string
	for _, r := range Rules() {
		ids = append(ids, r.ID)
	}
	return ids
}

func severityOf(id string) Severity {
	rules := Rules()
	return rules[slices.IndexFunc(rules, func(r Rule) bool { return r.ID == id })].Severity
}
