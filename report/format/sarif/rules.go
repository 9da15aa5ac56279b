package sarif

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/outline"
)

// GitHub's limits for the texts of a rule, in runes.
const (
	sarifName        = 255
	sarifDescription = 1024
	sarifTitle       = 200
)

// rules are the rules of the results, in the order of their first result.
type rules struct {
	list  []*sarifRule
	index map[string]int
}

func newRules(findings []*report.Finding) *rules {
	rs := &rules{list: []*sarifRule{}, index: map[string]int{}}
	strongest := map[string]*report.Finding{}
	for _, f := range findings {
		id := ruleID(f)
		if _, ok := rs.index[id]; !ok {
			rs.index[id] = len(rs.list)
			rs.list = append(rs.list, newRule(id, f))
			strongest[id] = f
		}
		if outline.Weight(f) < outline.Weight(strongest[id]) {
			strongest[id] = f
		}
	}
	for id, f := range strongest {
		r := rs.list[rs.index[id]]
		r.DefaultConfiguration = &sarifConfiguration{Level: outline.ClassOf(f).Level()}
		r.Properties.ProblemSeverity = problemSeverity(outline.ClassOf(f))
	}
	return rs
}

// ruleID returns "POLICY/validation-INDEX" for a policy's validation, "preadmit/CAUSE" for
// other findings. Names of policies have no slash.
func ruleID(f *report.Finding) string {
	if ofValidation(f) {
		return fmt.Sprintf("%s/validation-%d", f.Policy, *f.Validation)
	}
	return "preadmit/" + string(f.Cause)
}

// ofValidation reports whether a validation of a policy caused the finding: it was false or
// could not be evaluated.
func ofValidation(f *report.Finding) bool {
	return f.Policy != "" && f.Validation != nil &&
		(f.Cause == report.CauseValidation || f.Cause == report.CauseError)
}

func newRule(id string, f *report.Finding) *sarifRule {
	r := &sarifRule{
		ID:         id,
		Name:       escape.Clip(pascalCase(id), sarifName),
		Properties: &sarifRuleProperties{Tags: []string{"kubernetes", "admission"}, Precision: "very-high"},
	}
	short, full, help := causeTexts(f.Cause)
	if ofValidation(f) {
		short, full, help = validationTexts(f)
	}
	r.ShortDescription.Text = escape.Clip(sentence(plainText(short)), sarifTitle)
	r.FullDescription.Text = escape.Clip(sentence(plainText(full)), sarifDescription)
	r.Help = &sarifMessage{Text: plainText(help)}
	if ofValidation(f) {
		r.Help.Markdown = validationHelp(f)
	}
	return r
}

// validationHelp returns the help of a validation in Markdown, which GitHub shows instead
// of the plain text.
func validationHelp(f *report.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Validation %d of the ValidatingAdmissionPolicy %s, which the API server evaluates for every request that the policy and its bindings match.\n", *f.Validation, escape.CodeSpan(f.Policy))
	if f.Definition != nil {
		fmt.Fprintf(&b, "\nIt is written in %s.\n", escape.CodeSpan(outline.DefinedAt(f.Definition)))
	}
	if f.Expression != "" {
		b.WriteString("\nThis must be true:\n\n" + escape.CodeBlock("", escape.Lines(escape.Clip(f.Expression, sarifText))))
	}
	if f.Message != "" {
		b.WriteString("\nA response of the API server, for example:\n\n" + escape.Quote(f.Message))
	}
	fmt.Fprintf(&b, "\nTo see the policy: %s\n", escape.CodeSpan("kubectl get validatingadmissionpolicy "+f.Policy+" -o yaml"))
	return b.String()
}

// validationTexts returns the texts of a validation's rule. Its title is the expression and
// not the message, which may be specific to one object.
func validationTexts(f *report.Finding) (short, full, help string) {
	short = fmt.Sprintf("%s, validation %d", f.Policy, *f.Validation)
	full = fmt.Sprintf("Validation %d of the ValidatingAdmissionPolicy %s, which the API server evaluates for every request that the policy and its bindings match", *f.Validation, f.Policy)
	help = full + "."
	if f.Expression != "" {
		expression := strings.Join(strings.Fields(f.Expression), " ")
		short = f.Policy + ": " + expression
		full += ": " + expression
		help += "\n\nExpression, which must be true:\n" + f.Expression
	}
	if f.Message != "" {
		help += "\n\nA response of the API server, for example:\n" + f.Message
	}
	if f.Definition != nil {
		help += "\n\nThe policy is written in " + outline.DefinedAt(f.Definition) + "."
	}
	return short, full, help + "\n\nTo see the policy: kubectl get validatingadmissionpolicy " + f.Policy + " -o yaml"
}

// causeTexts returns the texts of the rules that do not belong to a policy.
func causeTexts(c report.Cause) (short, full, help string) {
	switch c {
	case report.CausePolicy:
		return "Policy or binding refused by the API server",
			"The API server would refuse to create this ValidatingAdmissionPolicy or ValidatingAdmissionPolicyBinding, so it would have no effect",
			"Correct the field the message names. The message is worded as the API server's."
	case report.CauseSchema:
		return "Refused by the API server itself",
			"The API server would refuse the object, or drop fields of it, whatever policies say",
			"Correct or remove the field the message names. The message is worded as the API server's."
	case report.CauseProject:
		return "Forbidden by an AppProject",
			"The AppProject of an Application of Argo CD does not permit its source, its destination or one of its objects, so Argo CD would not apply it",
			"Permit it in the AppProject, or change what the message names. The message is worded as Argo CD's."
	case report.CauseRender:
		return "Root does not render",
			"This root rendered at the base of the change and fails to render at its head, so none of its objects could be judged",
			"Run kustomize build on the root to see the failure, and correct the file the message names."
	case report.CauseConfiguration:
		return "Admission policy cannot be applied as configured",
			"A ValidatingAdmissionPolicy matches the request but cannot be applied: a parameter is missing, or its paramKind or binding does not hold. With failurePolicy Fail the API server denies the request",
			"Provide what is missing according to the message, or correct the policy or its binding."
	case report.CauseError:
		return "Admission policy could not be evaluated",
			"An expression of a ValidatingAdmissionPolicy fails on this object. With failurePolicy Fail the API server denies the request",
			"Guard the expression with has() where a field is optional, or give the object the field it needs."
	}
	return "Denied by an admission policy",
		"A ValidatingAdmissionPolicy is not satisfied by this object",
		"Change the object so that it satisfies the policy the message names."
}

func problemSeverity(c outline.Class) string {
	if level := c.Level(); level != "note" {
		return level
	}
	return "recommendation"
}

// pascalCase returns the ID of a rule as a name in PascalCase, as SARIF requires.
func pascalCase(id string) string {
	var b strings.Builder
	upper := true
	for _, r := range id {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			upper = true
		case upper:
			b.WriteRune(unicode.ToUpper(r))
			upper = false
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
