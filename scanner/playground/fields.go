package playground

import (
	"fmt"
	"strings"

	"github.com/preadmit/preadmit/internal/strictyaml"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/suite"
)

// fieldOf returns the field with the text of a file of the suite.
func fieldOf(path string) string {
	for field, name := range fileNames {
		if name == path {
			return field
		}
	}
	return ""
}

// misplacedPolicies returns a problem for each policy or binding in a field other than that for
// policies.
func misplacedPolicies(s *suite.Suite) []report.PlaygroundProblem {
	var problems []report.PlaygroundProblem
	for _, o := range s.Policies {
		path, line := s.Place(o)
		if kind := o.GroupVersionKind(); path != suite.PoliciesFile && kinds.IsPolicy(kind.GroupKind()) {
			problems = append(problems, report.PlaygroundProblem{Field: fieldOf(path), Line: line, Message: fmt.Sprintf("a %s belongs to the policies and bindings: move it there", kind.Kind)})
		}
	}
	return problems[:min(len(problems), maxProblems)]
}

// notesOf returns notes about content of the fields that has no effect on the answer.
func notesOf(r *report.PlaygroundRequest, s *suite.Suite) []report.PlaygroundProblem {
	var notes []report.PlaygroundProblem
	switch {
	case r.Operation == "DELETE" && !isBlank(r.Object):
		notes = append(notes, report.PlaygroundProblem{Field: "object", Message: "not used: a DELETE has no new object"})
	case (r.Operation == "CREATE" || r.Operation == "") && !isBlank(r.OldObject):
		notes = append(notes, report.PlaygroundProblem{Field: "oldObject", Message: "not used: a CREATE has no old object; choose UPDATE or DELETE to use it"})
	}
	for _, o := range s.Repeated() {
		_, line := s.Place(o.Object)
		notes = append(notes, report.PlaygroundProblem{Field: fieldOf(o.Path), Line: o.Line, Message: fmt.Sprintf(
			"replaced by the %s in line %d, which has the same name: a cluster has one of a name, so remove or rename one", o.Key.Kind, line)})
	}
	for _, u := range s.Unread() {
		path, line := s.Place(u.Object)
		notes = append(notes, report.PlaygroundProblem{Field: fieldOf(path), Line: line, Message: u.Why})
	}
	return notes[:min(len(notes), maxProblems)]
}

// isBlank reports whether a text has only comments and blank lines.
func isBlank(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") && line != "---" {
			return false
		}
	}
	return true
}

// objectOf parses the single object of a field.
func objectOf(field, text string) (map[string]any, *report.PlaygroundProblem) {
	if isBlank(text) {
		return nil, &report.PlaygroundProblem{Field: field, Message: "the request needs an object here, as YAML"}
	}
	documents, err := strictyaml.ParseAll(field, []byte(text))
	if err != nil {
		return nil, &problemsOf(err)[0]
	}
	var content map[string]any
	for _, d := range documents {
		var one map[string]any
		if err := d.DecodeManifest(&one); err != nil {
			return nil, &problemsOf(err)[0]
		}
		if content != nil {
			return nil, &report.PlaygroundProblem{Field: field, Line: d.Line(""), Message: "a request has one object: remove the others"}
		}
		if items, ok := one["items"].([]any); ok {
			return nil, &report.PlaygroundProblem{Field: field, Line: d.Line(""), Message: fmt.Sprintf("a request has one object, and this is a list of %d: give one of them", len(items))}
		}
		content = one
	}
	for _, name := range []string{"apiVersion", "kind"} {
		if s, _ := content[name].(string); s == "" {
			return nil, &report.PlaygroundProblem{Field: field, Message: "no Kubernetes object: " + name + " is required"}
		}
	}
	return content, nil
}
