package appset

import (
	"encoding/json"
	"fmt"
	"sync"

	kjson "sigs.k8s.io/json"

	"github.com/preadmit/preadmit/render/helm/engine"
)

// set has the fields of an ApplicationSet that are evaluated. Templates are not decoded further.
type set struct {
	// engine executes Go templates.
	engine func() *engine.Engine

	Metadata struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec struct {
		GoTemplate        bool           `json:"goTemplate"`
		GoTemplateOptions []string       `json:"goTemplateOptions"`
		Generators        []any          `json:"generators"`
		Template          map[string]any `json:"template"`
		TemplatePatch     *string        `json:"templatePatch"`
		SyncPolicy        *struct {
			PreserveResourcesOnDeletion bool   `json:"preserveResourcesOnDeletion"`
			ApplicationsSync            string `json:"applicationsSync"`
		} `json:"syncPolicy"`
		IgnoreApplicationDifferences []struct {
			Name              string   `json:"name"`
			JSONPointers      []string `json:"jsonPointers"`
			JQPathExpressions []string `json:"jqPathExpressions"`
		} `json:"ignoreApplicationDifferences"`
	} `json:"spec"`
}

func parse(object json.RawMessage) (*set, error) {
	s := &set{engine: sync.OnceValue(func() *engine.Engine { return engine.NewText("{{", "}}", functions(new(error))) })}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(object, s); err != nil {
		return nil, fmt.Errorf("not an ApplicationSet of Argo CD: %w", err)
	}
	return s, nil
}

// Keeps reports whether the applicationsSync of an ApplicationSet prevents the deletion of Applications that it no
// longer generates.
func Keeps(object json.RawMessage) bool {
	s, err := parse(object)
	if err != nil || s.Spec.SyncPolicy == nil {
		return false
	}
	return s.Spec.SyncPolicy.ApplicationsSync == "create-only" || s.Spec.SyncPolicy.ApplicationsSync == "create-update"
}

// git is a git generator.
type git struct {
	RepoURL     string            `json:"repoURL"`
	Revision    string            `json:"revision"`
	Directories []item            `json:"directories"`
	Files       []item            `json:"files"`
	Prefix      string            `json:"pathParamPrefix"`
	Values      map[string]string `json:"values"`
}

type item struct {
	Path    string `json:"path"`
	Exclude bool   `json:"exclude"`
}

// Error is the reason why an ApplicationSet generates nothing.
type Error struct {
	// Field is the field of the ApplicationSet that causes the error.
	Field   string
	Message string
	// Refused is set when the ApplicationSet may be correct, but its Applications are not known.
	Refused bool
}

func (e *Error) Error() string { return e.Message }

func errorf(field, format string, args ...any) error {
	return &Error{Field: field, Message: fmt.Sprintf(format, args...)}
}

func refusedf(field, format string, args ...any) error {
	return &Error{Field: field, Message: fmt.Sprintf(format, args...), Refused: true}
}

// as decodes a value into a type. As in the controller, numbers of free form become floating-point numbers.
func as[T any](value any) (out T, err error) {
	text, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	return out, err
}
