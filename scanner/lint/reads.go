package lint

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	v1 "k8s.io/api/admissionregistration/v1"

	"github.com/preadmit/preadmit/scanner/policy/expressions"
)

// checkNamespaceObject reports match conditions that read namespaceObject.
func checkNamespaceObject(_ context.Context, c *cluster) {
	c.eachRead(func(p *policySubject, e expression, path expressions.Path) {
		if path[0] == "namespaceObject" && e.place == inCondition {
			c.at(p, e, "namespaceObject", remark{
				message: "namespaceObject is null in match conditions",
				hint:    "ask in a validation, or select with namespaceSelector",
			})
		}
	})
}

// checkAuthorizer reports messages and audit annotations that use the authorizer, directly or
// through a variable.
func checkAuthorizer(_ context.Context, c *cluster) {
	c.eachRead(func(p *policySubject, e expression, path expressions.Path) {
		switch name := path[0]; {
		case name == "authorizer" && e.place == inAnnotation:
			c.at(p, e, "authorizer", remark{
				message: "audit annotations have no authorizer when they are evaluated (no such attribute(s): authorizer)",
				hint:    "ask the authorizer in a validation",
			})
		case name == "variables" && (e.place == inMessage || e.place == inAnnotation) && usesAuthorizer(p, path):
			c.at(p, e, path[1], remark{
				message: fmt.Sprintf("variable %q asks the authorizer, which is not there for messages and audit annotations", path[1]),
				hint:    "use the variable in validations only",
			})
		}
	})
}

// usesAuthorizer reports whether the variable of a path uses the authorizer.
func usesAuthorizer(p *policySubject, path expressions.Path) bool {
	return len(path) > 1 && slices.ContainsFunc(p.Spec.Variables, func(v v1.Variable) bool {
		reads, _ := expressions.Reads(v.Expression)
		return v.Name == path[1] && slices.ContainsFunc(reads, func(r expressions.Path) bool { return r[0] == "authorizer" })
	})
}

// escapes matches the escaped parts of a name, and escapedWords whole names that are escaped
// because CEL reserves them (k8s.io/apiserver/pkg/cel, Escape). Objects are untyped at run time,
// and the names of their fields are not escaped.
var (
	escapes      = regexp.MustCompile(`__(dot|dash|slash|underscores)__`)
	escapedWords = regexp.MustCompile(`^__(true|false|null|in|as|break|const|continue|else|for|function|if|import|let|loop|package|namespace|return|var|void|while)__$`)
)

// checkEscapedField reports expressions that read a field by an escaped name.
func checkEscapedField(_ context.Context, c *cluster) {
	c.eachRead(func(p *policySubject, e expression, path expressions.Path) {
		if !slices.Contains([]string{"object", "oldObject", "params"}, path[0]) {
			return
		}
		for _, name := range path[1:] {
			if !escapes.MatchString(name) && !escapedWords.MatchString(name) {
				continue
			}
			c.at(p, e, name, remark{
				message: fmt.Sprintf("the field %q is never there: names are not escaped in the objects that policies see", name),
				hint:    fmt.Sprintf("write ['%s'] behind what has the field", unescape(name)),
			})
		}
	})
}

// unescape returns the unescaped name of a field.
func unescape(name string) string {
	if escapedWords.MatchString(name) {
		return strings.Trim(name, "_")
	}
	return strings.NewReplacer("__dot__", ".", "__dash__", "-", "__slash__", "/", "__underscores__", "__").Replace(name)
}
