package explain

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	k8smutation "k8s.io/apiserver/pkg/cel/mutation"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/diff"
	"github.com/preadmit/preadmit/scanner/mutation"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/policy/secrets"
)

// hidden has the values that must not be shown: the content of Secrets that policies read, and
// values that expressions compute from it.
type hidden struct {
	values map[string]bool
	// audit has the audit annotations that are computed from it.
	audit map[string]bool
}

func (s *hidden) hold(values ...string) {
	if s.values == nil {
		s.values, s.audit = map[string]bool{}, map[string]bool{}
	}
	for _, value := range values {
		if value != "" {
			s.values[value] = true
		}
	}
}

// reads adds the values of the Secrets among objects.
func (s *hidden) reads(objects ...*admission.Object) {
	for _, o := range objects {
		if o != nil {
			s.hold(secrets.Values(o.Content())...)
		}
	}
}

// takes adds the values that the expressions of a policy compute from a Secret: those that change
// when the Secret has other content.
func (s *hidden) takes(name string, w *policy.Watch) {
	if w.Sealed == nil {
		return
	}
	s.differ(w.Messages, w.Sealed.Messages)
	s.differ(w.Mutations, w.Sealed.Mutations)
	for _, i := range s.differ(w.AuditAnnotations, w.Sealed.AuditAnnotations) {
		s.hold()
		s.audit[name+"/"+w.AuditAnnotations[i].Name] = true
	}
}

// differ adds the values that differ from those of the sealed expressions, and returns the indexes
// of the expressions that differ.
func (s *hidden) differ(all, sealed []policy.Watched) (indexes []int) {
	for i := range all {
		own, others := map[string]bool{}, map[string]bool{}
		texts(all[i].Value, own)
		if i < len(sealed) {
			texts(sealed[i].Value, others)
		}
		maps.DeleteFunc(own, func(value string, _ bool) bool { return others[value] })
		if len(own) > 0 {
			s.hold(slices.Collect(maps.Keys(own))...)
			indexes = append(indexes, i)
		}
	}
	return indexes
}

// texts adds the scalar values in a value, as text.
func texts(v ref.Val, into map[string]bool) {
	switch v := v.(type) {
	case nil, types.Null, *types.Err, *types.Unknown:
	case types.String, types.Bool, types.Int, types.Uint, types.Double:
		into[fmt.Sprint(v.Value())] = true
	case types.Bytes:
		into[string(v)] = true
	case *k8smutation.JSONPatchVal:
		for _, pointer := range []string{v.Path, v.From} {
			for part := range strings.SplitSeq(pointer, "/") {
				into[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)] = true
			}
		}
		texts(v.Val, into)
	case *types.Optional:
		if v.HasValue() {
			texts(v.GetValue(), into)
		}
	case traits.Lister:
		for it := v.Iterator(); it.HasNext() == types.True; {
			texts(it.Next(), into)
		}
	case traits.Mapper:
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			texts(key, into)
			item, _ := v.Find(key)
			texts(item, into)
		}
	default:
		native := v.Value()
		if _, same := native.(ref.Val); !same {
			natives(reflect.ValueOf(native), into)
		}
	}
}

// natives does the same as texts for Go values, which CEL uses for fields of objects.
func natives(v reflect.Value, into map[string]bool) {
	for v.IsValid() && v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() {
		return
	}
	if v.CanInterface() {
		if value, ok := v.Interface().(ref.Val); ok {
			texts(value, into)
			return
		}
	}
	switch v.Kind() {
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			natives(it.Key(), into)
			natives(it.Value(), into)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			into[string(v.Bytes())] = true
			return
		}
		for i := range v.Len() {
			natives(v.Index(i), into)
		}
	default:
		into[fmt.Sprint(v)] = true
	}
}

// in returns text without hidden values. Short values are only masked if they are the whole text.
func (s *hidden) in(text string) string {
	if len(s.values) == 0 {
		return text
	}
	if s.values[text] {
		return policy.Masked
	}
	var values []string
	for value := range s.values {
		values = append(values, value)
		if quoted, err := json.Marshal(value); err == nil {
			values = append(values, string(quoted[1:len(quoted)-1]))
		}
	}
	return secrets.ConcealValues(text, values)
}

// changes returns the diff of an object before and after policies mutated it, without values from
// Secrets.
func (x *explainer) changes(writes []mutation.Write) []string {
	return diff.Lines(x.secrets.object(writes[0].Before), x.secrets.object(writes[len(writes)-1].After))
}

// object returns an object without hidden values. It keeps the data of a Secret, which the diff
// masks.
func (s *hidden) object(content map[string]any) map[string]any {
	if len(s.values) == 0 {
		return content
	}
	out, _ := s.within(content).(map[string]any)
	if len(secrets.Values(content)) > 0 {
		for _, field := range []string{"data", "stringData"} {
			if held, ok := content[field]; ok {
				out[field] = held
			}
		}
	}
	return out
}

func (s *hidden) within(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			if s.values[key] {
				key = policy.Masked
			}
			out[s.in(key)] = s.within(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = s.within(v[i])
		}
		return out
	case string:
		return s.in(v)
	case nil:
		return nil
	default:
		if s.values[fmt.Sprint(v)] {
			return policy.Masked
		}
		return v
	}
}

// secret reports whether the request is about a Secret.
func (x *explainer) secret() bool {
	o := x.request.Main()
	return o != nil && o.GroupVersionKind().Group == "" && o.GroupVersionKind().Kind == "Secret"
}

// conceal masks values that policies copied from a Secret.
func (x *explainer) conceal() {
	if len(x.secrets.values) == 0 {
		return
	}
	s := &x.secrets
	for i := range x.out.Policies {
		p := &x.out.Policies[i]
		for j := range p.Matching {
			p.Matching[j].Why = s.in(p.Matching[j].Why)
		}
		for j := range p.Expressions {
			e := &p.Expressions[j]
			e.Value, e.Why = s.shown(e.Value), s.in(e.Why)
			x.concealParts(e.Parts)
		}
		for j := range p.Notes {
			p.Notes[j] = s.in(p.Notes[j])
		}
	}
}

func (x *explainer) concealParts(parts []report.ExplainedPart) {
	for i := range parts {
		p := &parts[i]
		p.Value, p.Why = x.secrets.shown(p.Value), x.secrets.in(p.Why)
		x.concealParts(p.Parts)
		for j := range p.Rounds {
			for k := range p.Rounds[j].Bound {
				b := &p.Rounds[j].Bound[k]
				b.Value = x.secrets.shown(b.Value)
			}
			x.concealParts(p.Rounds[j].Parts)
		}
	}
}

// shown returns a value in CEL syntax without hidden values. A truncated value is masked if a long
// hidden value contains its end.
func (s *hidden) shown(value string) string {
	shown := s.in(value)
	if cut, ok := strings.CutSuffix(strings.TrimRight(value, `"]})`), "…"); ok {
		end := cut[max(0, len(cut)-40):]
		for held := range s.values {
			if len(held) > maxValue-40 && strings.Contains(held, end) {
				return policy.Masked
			}
		}
	}
	return shown
}
