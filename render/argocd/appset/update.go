package appset

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/argocd/settings"
	"github.com/preadmit/preadmit/render/tree"
)

// Updated is a generated Application after the controller has applied it.
type Updated struct {
	Object json.RawMessage
	// Note is what stays as it was before; empty for nothing. Unknown is why it is not known what stays; empty if it is.
	Note, Unknown string
}

// Update returns an Application that a set generates, after it was applied to the one that is there, which before
// returns: nil if that is equal, or if there is none.
func Update(set, now json.RawMessage, before func() json.RawMessage) Updated {
	s, err := parse(set)
	if err != nil || s.updates() && len(s.Spec.IgnoreApplicationDifferences) == 0 {
		return Updated{Object: now}
	}
	was := before()
	switch {
	case was == nil:
		return Updated{Object: now}
	case !s.updates():
		return Updated{Object: was, Note: "stays as it was before the change: its ApplicationSet updates none (applicationsSync)"}
	}
	return s.leave(was, now)
}

// updates reports whether a set updates Applications that are there.
func (s *set) updates() bool {
	p := s.Spec.SyncPolicy
	return p == nil || p.ApplicationsSync != "create-only" && p.ApplicationsSync != "create-delete"
}

// leave returns an Application with the fields of ignoreApplicationDifferences as they were.
func (s *set) leave(was, now json.RawMessage) Updated {
	old, object := decoded(was), decoded(now)
	metadata, _ := object["metadata"].(map[string]any)
	var left []string
	for _, d := range s.Spec.IgnoreApplicationDifferences {
		if d.Name != "" && d.Name != metadata["name"] {
			continue
		}
		fields, _, err := settings.IgnoredBy([]settings.Difference{{JSONPointers: d.JSONPointers, JQPathExpressions: d.JQPathExpressions}})
		if err != nil {
			return Updated{Object: now, Unknown: fmt.Sprintf("the controller does not update it: ignoreApplicationDifferences: %v", err)}
		}
		for _, f := range fields {
			if same, known := leaveField(old, object, f.Path); !known || !f.Exact && !slices.Contains(d.JQPathExpressions, "."+strings.Join(f.Path, ".")) && !same {
				return Updated{Object: now, Unknown: "which of its fields stay as they were before the change is not known: ignoreApplicationDifferences of its ApplicationSet leaves them to others"}
			} else if !same {
				left = append(left, strings.Join(f.Path, "."))
			}
		}
	}
	if len(left) == 0 {
		return Updated{Object: now}
	}
	slices.Sort(left)
	return Updated{
		Object: tree.Encode(object),
		Note:   fmt.Sprintf("keeps %s as before the change: ignoreApplicationDifferences of its ApplicationSet leaves that to others", strings.Join(slices.Compact(left), ", ")),
	}
}

func decoded(app json.RawMessage) (object map[string]any) {
	_ = kjson.UnmarshalCaseSensitivePreserveInts(app, &object) // preadmit encoded it
	return object
}

// leaveField sets a field of an object to what it was. same is set if it was equal. known is false if that is not known:
// the path leads through a list that differs.
func leaveField(old, object map[string]any, path []string) (same, known bool) {
	if len(path) == 0 || path[0] == render.AnyItem {
		return false, reflect.DeepEqual(old, object)
	}
	name := path[0]
	was, had := old[name]
	is, has := object[name]
	if reflect.DeepEqual(was, is) && had == has {
		return true, true
	}
	if len(path) == 1 {
		if delete(object, name); had {
			object[name] = was
		}
		return false, true
	}
	under, isMap := was.(map[string]any)
	over, both := is.(map[string]any)
	switch {
	case had && !isMap || has && !both:
		return false, false
	case !had && !has:
		return true, true
	case !has:
		over = map[string]any{}
	}
	if same, known = leaveField(under, over, path[1:]); len(over) > 0 {
		object[name] = over
	}
	return same, known
}
