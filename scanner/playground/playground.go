// Package playground judges the input of the playground: a request and the state of its cluster,
// each as YAML. It builds a suite with one request from it, which can be exported.
package playground

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/preadmit/preadmit/internal/memfs"
	"github.com/preadmit/preadmit/internal/strictyaml"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/explain"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/release"
	"github.com/preadmit/preadmit/scanner/suite"
)

// caseName is the name of the request.
const caseName = "request"

// MaxRequest is the maximum size in bytes of a request, as JSON; maxAnswer that of an answer.
const (
	MaxRequest = 1 << 20
	maxAnswer  = 8 << 20
)

// answerTime is the maximum time for an answer.
const answerTime = 4 * time.Second

// Judge judges requests, one after the other. It reuses compilers of expressions for several
// requests.
type Judge struct {
	compiler *policy.Compiler
	answered int
}

// keptFor is the number of requests for which a compiler is reused; it caches all policies it
// compiled.
const keptFor = 200

// Answer judges a request.
func (j *Judge) Answer(ctx context.Context, r *report.PlaygroundRequest) (out *report.PlaygroundAnswer) {
	defer func() {
		if crashed := recover(); crashed != nil {
			out = failed("", fmt.Errorf("the judge crashed on this, which is a bug of preadmit: %v", crashed))
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	if j.compiler == nil || j.answered >= keptFor {
		j.compiler, j.answered = policy.NewCompiler(), 0
	}
	j.answered++
	files, problems := filesOf(r)
	if len(problems) > 0 {
		return &report.PlaygroundAnswer{Problems: problems}
	}
	s, err := suite.Load(memfs.Files(files))
	if err != nil {
		return &report.PlaygroundAnswer{Problems: problemsOf(err)}
	}
	s.Compiler = j.compiler
	if misplaced := misplacedPolicies(s); len(misplaced) > 0 {
		return &report.PlaygroundAnswer{Problems: misplaced}
	}
	if r.Suite {
		return export(ctx, r, s)
	}
	explained, _, err := s.Explain(ctx, caseName, explain.Options{Types: true})
	switch {
	case ctx.Err() != nil:
		return failed("", errors.New("this takes too long to judge: make the expressions or the object smaller"))
	case err != nil:
		return failed("object", err)
	}
	for i, why := range explained.Answer.Indeterminate {
		explained.Answer.Indeterminate[i] = strings.Replace(why, "to the repository or give it with --context", "under Namespaces, CustomResourceDefinitions", 1)
	}
	return &report.PlaygroundAnswer{Explain: explained, Notes: notesOf(r, s)}
}

func failed(field string, err error) *report.PlaygroundAnswer {
	return &report.PlaygroundAnswer{Problems: []report.PlaygroundProblem{{Field: field, Message: err.Error()}}}
}

// fileNames maps fields to the files of the suite.
var fileNames = map[string]string{"policies": suite.PoliciesFile, "params": "params.yaml", "namespace": "namespace.yaml", "rbac": "rbac.yaml"}

// filesOf returns the files of the suite for a request.
func filesOf(r *report.PlaygroundRequest) (map[string]string, []report.PlaygroundProblem) {
	var problems []report.PlaygroundProblem
	object := func(field, text string) map[string]any {
		content, problem := objectOf(field, text)
		if problem != nil {
			problems = append(problems, *problem)
		}
		return content
	}
	request := suite.Request{Name: caseName, Operation: r.Operation, Subresource: r.Subresource}
	if request.Operation == "" {
		request.Operation = "CREATE"
	}
	if request.Operation != "DELETE" {
		request.Object = object("object", r.Object)
	}
	switch {
	case request.Operation == "CREATE":
	case request.Operation == "DELETE" && isBlank(r.OldObject) && !isBlank(r.Object):
		problems = append(problems, report.PlaygroundProblem{Field: "object", Message: "a DELETE has no new object: what it deletes is the old object, so move it there"})
	default:
		request.OldObject = object("oldObject", r.OldObject)
	}
	if user := strings.TrimSpace(r.User); user != "" {
		request.User = &suite.User{Username: user, Groups: strings.FieldsFunc(r.Groups, func(c rune) bool { return c == ',' || c == ' ' || c == '\n' })}
	} else if strings.TrimSpace(r.Groups) != "" {
		problems = append(problems, report.PlaygroundProblem{Field: "user", Message: "groups are those of a user: give the name of one"})
	}
	if len(problems) > 0 {
		return nil, problems
	}
	files := map[string]string{}
	var more []string
	for field, text := range map[string]string{"policies": r.Policies, "params": r.Params, "namespace": r.Namespace, "rbac": r.RBAC} {
		if isBlank(text) {
			continue
		}
		name := fileNames[field]
		if files[name] = text; name != suite.PoliciesFile {
			more = append(more, name)
		}
	}
	slices.Sort(more)
	document := map[string]any{"requests": []suite.Request{request}}
	if len(more) > 0 {
		document["policies"] = more
	}
	data, err := suite.YAML(document)
	if err != nil {
		return nil, failed("object", err).Problems
	}
	files[suite.RequestsFile] = string(data)
	return files, nil
}

// maxProblems is the maximum number of mistakes, and of notes, that are shown.
const maxProblems = 20

// problemsOf returns the mistakes in an error, with their fields.
func problemsOf(err error) []report.PlaygroundProblem {
	var all []report.PlaygroundProblem
	var walk func(error)
	walk = func(err error) {
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			for _, one := range joined.Unwrap() {
				walk(one)
			}
			return
		}
		located := new(strictyaml.Error)
		if !errors.As(err, &located) {
			all = append(all, report.PlaygroundProblem{Field: "object", Message: err.Error()})
			return
		}
		p := report.PlaygroundProblem{Field: located.Path, Line: located.Line, Column: located.Column, Message: located.Message}
		if field := fieldOf(located.Path); field != "" {
			p.Field = field
		}
		if located.Path == suite.RequestsFile {
			p.Field, p.Line, p.Column = "object", 0, 0
		}
		all = append(all, p)
	}
	walk(err)
	return all[:min(len(all), maxProblems)]
}

// export returns the files of the suite, with the verdict as the expected one.
func export(ctx context.Context, r *report.PlaygroundRequest, s *suite.Suite) *report.PlaygroundAnswer {
	s.Expected = nil
	result, err := s.Test(ctx, func(string) bool { return true })
	if err != nil {
		return failed("object", err)
	}
	expected, err := result.Record()
	if err != nil {
		return failed("object", err)
	}
	requests, err := suite.YAML(map[string]any{"requests": s.Requests})
	if err != nil {
		return failed("object", err)
	}
	if r.Version != "" && !strings.HasPrefix(release.Latest, "v"+r.Version+".") {
		requests = append(fmt.Appendf(nil, "# Answered as Kubernetes %[1]s: preadmit test --kubernetes-version %[1]s\n", r.Version), requests...)
	}
	files := map[string]string{suite.RequestsFile: string(requests), suite.ExpectedFile: string(expected)}
	if !isBlank(r.Policies) {
		files[suite.PoliciesFile] = ended(r.Policies)
	}
	var given []string
	for _, text := range []string{r.Namespace, r.Params, r.RBAC} {
		if !isBlank(text) {
			given = append(given, ended(text))
		}
	}
	if len(given) > 0 {
		files[suite.ContextFile] = strings.Join(given, "---\n")
	}
	return &report.PlaygroundAnswer{Files: files}
}

func ended(text string) string {
	return strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n") + "\n"
}

// Serve answers requests, each a line of JSON, until in ends.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	j := &Judge{}
	warm(ctx, j)
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		r := &report.PlaygroundRequest{}
		if err := json.Unmarshal(line, r); err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		data, err := json.Marshal(j.Answer(ctx, r))
		if err == nil && len(data) > maxAnswer {
			data, err = json.Marshal(failed("", fmt.Errorf("the answer has more than %d MiB: make the policies or the object smaller", maxAnswer>>20)))
		}
		if err != nil {
			return fmt.Errorf("write an answer: %w", err)
		}
		if _, err := out.Write(append(data, '\n')); err != nil {
			return fmt.Errorf("write an answer: %w", err)
		}
	}
}

// warm initializes what all requests need, by judging one.
func warm(ctx context.Context, j *Judge) {
	j.Answer(ctx, &report.PlaygroundRequest{
		Object: "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}",
		Policies: `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: a}, spec: {matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}, variables: [{name: a, expression: "true"}], validations: [{expression: "variables.a"}]}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: a}, spec: {policyName: a, validationActions: [Deny]}}
`,
	})
}
