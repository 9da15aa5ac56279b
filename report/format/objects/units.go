package objects

import (
	"fmt"
	"io"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
)

// Unit is a unit with its rendered objects, as JSON.
type Unit struct {
	// ID is KIND/NAMESPACE/NAME of the object that defines the unit. It is unique in Cluster.
	ID      string `json:"id"`
	Cluster string `json:"cluster"`
	// Parent is the ID of the unit that applies that object; empty for an entry point.
	Parent    string           `json:"parent,omitempty"`
	Path      string           `json:"path,omitempty"`
	Suspended bool             `json:"suspended,omitempty"`
	Objects   []map[string]any `json:"objects"`
	// Hooks are the objects that Helm creates while it installs a release, and Definitions the
	// objects in crds/ of its chart. Both are nil for units that are no releases.
	Hooks       []map[string]any `json:"hooks,omitzero"`
	Definitions []map[string]any `json:"crds,omitzero"`
	// Namespace is the Namespace that a sync creates for the destination of an Application
	// (CreateNamespace=true), or that Helm creates for a release (install.createNamespace).
	Namespace map[string]any `json:"namespace,omitempty"`
	// NotApplied are the objects of an Application that no sync applies: hooks of other events.
	// Hooks that a sync runs are in Objects.
	NotApplied []map[string]any `json:"notApplied,omitempty"`
	// Gaps lists what is not known about the unit.
	Gaps []UnitGap `json:"gaps,omitempty"`
	// application is set for the unit of an Argo CD Application.
	application bool
}

// UnitGap is something about a unit that is not known.
type UnitGap struct {
	// Object is KIND/NAMESPACE/NAME of an object with an unknown field; empty for the unit.
	Object string `json:"object,omitempty"`
	// Field is a JSON pointer.
	Field string `json:"field,omitempty"`
	// At is the place, as PATH:LINE.
	At     string `json:"at,omitempty"`
	Reason string `json:"reason"`
}

// NewUnit returns a unit with its objects and gaps.
func NewUnit(root render.Root, result *render.Result, opts Options) Unit {
	u := Unit{ID: root.Object.String(), Cluster: root.Cluster, Path: root.Dir, Objects: []map[string]any{}}
	if root.Kind == render.KindHelm {
		u.Hooks, u.Definitions = []map[string]any{}, []map[string]any{}
	}
	u.application = root.Kind == render.KindArgoCD
	if root.Unit != nil {
		u.Suspended = root.Unit.Apply.Suspended
		if root.Unit.Parent.Object != (render.ObjectRef{}) {
			u.Parent = root.Unit.Parent.Object.String()
		}
	}
	switch {
	case u.Suspended || result == nil:
	case result.Problem != nil:
		u.Gaps = append(u.Gaps, UnitGap{At: result.Problem.Place().String(), Reason: result.Problem.Message})
	default:
		if result.Lacks != nil {
			u.Gaps = append(u.Gaps, UnitGap{At: result.Lacks.String(), Reason: result.Lacks.Why})
		}
		for _, o := range result.Objects {
			u.add(o, opts)
		}
	}
	return u
}

func (u *Unit) add(o *render.Object, opts Options) {
	content := o.Content()
	metadata, _ := content["metadata"].(map[string]any)
	name := fmt.Sprintf("%v/%v/%v", content["kind"], orNone(metadata["namespace"]), orNone(metadata["name"]))
	for _, field := range o.Unknown {
		u.Gaps = append(u.Gaps, UnitGap{Object: name, Field: pointer(field.Path), Reason: field.Reason})
	}
	if !opts.ShowSecrets {
		report.MaskSecret(content)
	}
	switch {
	case o.Role == render.RoleNamespace:
		u.Namespace = content
		return
	case u.application && o.Role == render.RoleIdleHook:
		u.NotApplied = append(u.NotApplied, content)
		return
	case u.application:
		u.Objects = append(u.Objects, content)
		return
	}
	switch o.Role {
	case render.RoleHook, render.RoleIdleHook:
		u.Hooks = append(u.Hooks, content)
	case render.RolePossible: // only its gap is shown
	case render.RoleDefinition:
		u.Definitions = append(u.Definitions, content)
	default:
		u.Objects = append(u.Objects, content)
	}
}

func orNone(value any) any {
	if value == nil {
		return ""
	}
	return value
}

var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

// pointer returns a path as a JSON pointer.
func pointer(path []string) string {
	out := ""
	for _, step := range path {
		out += "/" + pointerEscape.Replace(step)
	}
	return out
}

// WriteUnits writes units as `{"units": [...]}`.
func WriteUnits(w io.Writer, units []Unit) error {
	if units == nil {
		units = []Unit{}
	}
	if err := escape.EncodeJSON(w, map[string]any{"units": units}); err != nil {
		return fmt.Errorf("write the units: %w", err)
	}
	return nil
}
