package resourceset

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render/helm/engine"
	"github.com/preadmit/preadmit/render/tree"
)

// Limits of a ResourceSet.
const (
	maxInputs  = 10_000
	maxObjects = 10_000
	// maxSteps limits how many parts of its templates are executed, maxWork how many bytes their functions may read and
	// write, and maxText the output of one execution.
	maxSteps = 2_000_000
	maxWork  = 1 << 30
	maxText  = 16 << 20
)

// built is an object of a ResourceSet, with its template and input.
type built struct {
	content map[string]any
	// field is the field of the template: spec.resources[0], spec.resourcesTemplate. resource is the template as an
	// object, nil for a text.
	field    string
	resource map[string]any
	input    *input
}

// builder builds the objects of a ResourceSet.
type builder struct {
	ctx    context.Context
	engine *engine.Engine
	inputs []input
	// alone is set when templates are executed once, without inputs.
	alone   bool
	objects []built
	// used is what the templates cost.
	used engine.Used
	// steps maps the identity of an object to the name of the step that made it.
	steps map[string]string
}

// templateError is the error of a template.
type templateError struct {
	field string
	// line is the line in the text of the template, from 1; 0 if it is not known.
	line int
	// limit is set when flux-operator might execute the template, but its result is not known here.
	limit bool
	err   error
}

func (e *templateError) Error() string { return e.err.Error() }

// build returns the objects of a ResourceSet.
func build(ctx context.Context, s *Set, inputs []input) ([]built, error) {
	b := &builder{ctx: ctx, engine: engine.NewText("<<", ">>", names()), inputs: inputs, alone: len(s.Spec.Inputs)+len(s.Spec.InputsFrom) == 0, steps: map[string]string{}}
	if len(inputs) > maxInputs {
		return nil, &templateError{field: "spec.inputs", limit: true, err: fmt.Errorf("there are %d sets of inputs, more than the limit of %d", len(inputs), maxInputs)}
	}
	if len(s.Spec.Steps) == 0 {
		err := b.part("spec", s.Spec.part)
		return b.objects, err
	}
	for i, step := range s.Spec.Steps {
		field := fmt.Sprintf("spec.steps[%d]", i)
		if len(step.Resources) == 0 && step.Template == "" {
			return nil, &templateError{field: field, err: fmt.Errorf("step %q: at least one of resources or resourcesTemplate must be set", step.Name)}
		}
		if err := b.part(field, step); err != nil {
			return nil, err
		}
	}
	return b.objects, nil
}

// part adds the objects of the set, or of one of its steps: first those of resources, then those of resourcesTemplate.
func (b *builder) part(field string, p part) error {
	for i, raw := range p.Resources {
		at := fmt.Sprintf("%s.resources[%d]", field, i)
		text, err := yaml.JSONToYAML(raw)
		if err != nil {
			return &templateError{field: at, err: err}
		}
		var resource map[string]any
		_ = json.Unmarshal(raw, &resource) // a resource of another type makes no object
		if err := b.template(at, p.Name, string(text), resource); err != nil {
			return err
		}
	}
	if p.Template == "" {
		return nil
	}
	return b.template(field+".resourcesTemplate", p.Name, p.Template, nil)
}

// template executes a template for all inputs.
func (b *builder) template(field, step, text string, resource map[string]any) error {
	if b.alone {
		return b.execute(field, step, text, resource, nil)
	}
	for i := range b.inputs {
		if err := b.execute(field, step, text, resource, &b.inputs[i]); err != nil {
			return err
		}
	}
	return nil
}

// execute executes a template for one set of inputs, and adds the resulting objects.
func (b *builder) execute(field, step, text string, resource map[string]any, in *input) error {
	var values map[string]any
	if in != nil {
		values = in.values
	}
	file, err := b.engine.Text(b.ctx, field, text, functions(values), engine.Options{
		Limits: engine.Limits{Steps: maxSteps, Work: maxWork, Output: maxText, Value: maxText}, Used: &b.used,
	})
	if err != nil {
		return failedTemplate(field, in, err)
	}
	contents, err := decode(file.Text, resource == nil)
	if err != nil {
		return &templateError{field: field, err: fmt.Errorf("failed to read what the template makes: %w", err)}
	}
	for _, content := range contents {
		if err := b.add(built{content: content, field: field, resource: resource, input: in}, step); err != nil {
			return err
		}
	}
	return nil
}

// failedTemplate returns the error of a template that was executed for a set of inputs.
func failedTemplate(field string, in *input, err error) error {
	out := &templateError{field: field, err: err}
	if e := new(engine.Error); errors.As(err, &e) {
		out.limit, out.line, out.err = e.Limit, e.Line, errors.New("failed to execute the template: "+e.Message)
		if in != nil && in.field == "" && strings.Contains(e.Message, `map has no entry for key "id"`) {
			out.limit, out.err = true, errors.New("inputs.id follows from the uid of an object in the cluster, which is not known")
		}
	}
	return out
}

// add adds an object unless it was already added or is disabled. An object of resources without inputs is always added.
func (b *builder) add(o built, step string) error {
	metadata, _ := o.content["metadata"].(map[string]any)
	always := o.input == nil && o.resource != nil
	if !always && annotationsOf(o.content)[Group+"/reconcile"] == "disabled" {
		return nil
	}
	version, _ := o.content["apiVersion"].(string)
	group, _, grouped := strings.Cut(version, "/")
	if !grouped {
		group = ""
	}
	key := fmt.Sprint(group, "/", o.content["kind"], "/", metadata["namespace"], "/", metadata["name"])
	switch before, made := b.steps[key]; {
	case made && before == step && !always:
		return nil
	case made && before != step:
		return &templateError{field: o.field, err: fmt.Errorf("duplicate resource %s in step %q, already defined in step %q", key, step, before)}
	case len(b.objects) >= maxObjects:
		return &templateError{field: o.field, limit: true, err: fmt.Errorf("the ResourceSet makes more than the limit of %d objects", maxObjects)}
	}
	b.steps[key] = step
	b.objects = append(b.objects, o)
	return nil
}

// decode returns the objects in a text: one, or those of all documents.
func decode(text string, many bool) (objects []map[string]any, err error) {
	reader := utilyaml.NewYAMLReader(bufferOf(text))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		if bad := tree.Guard(document, tree.Limits{}.WithDefaults()); bad != nil {
			return nil, bad
		}
		data, err := yaml.YAMLToJSON(document)
		if err != nil {
			return nil, fmt.Errorf("error converting YAML to JSON: %w", err)
		}
		var content map[string]any
		if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &content); err != nil {
			return nil, err
		}
		items, isList := content["items"].([]any)
		kind, _ := content["kind"].(string)
		switch {
		case content == nil, many && !isObject(content) && !isList:
		case many && isList && strings.HasSuffix(kind, "List"):
			for _, item := range items {
				if o, _ := item.(map[string]any); isObject(o) {
					objects = append(objects, o)
				}
			}
		case !isObject(content):
			return nil, errors.New("it is no object with apiVersion, kind and metadata.name")
		default:
			objects = append(objects, content)
		}
	}
}

// isObject reports whether a document is an object that is applied.
func isObject(content map[string]any) bool {
	metadata, _ := content["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	version, _ := content["apiVersion"].(string)
	kind, _ := content["kind"].(string)
	return name != "" && version != "" && kind != "" && !(kind == "Kustomization" && strings.HasPrefix(version, "kustomize.config.k8s.io/"))
}

func bufferOf(text string) *bufio.Reader { return bufio.NewReader(strings.NewReader(text)) }
