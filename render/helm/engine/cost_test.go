package engine

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/Masterminds/sprig/v3"
)

// TestReading checks that functions count the texts that they read, whatever their types.
func TestReading(t *testing.T) {
	text := strings.Repeat("1", 1_000)
	for name, args := range map[string][]any{
		"upper": {text}, "atoi": {text}, "trimPrefix": {"1", text}, "contains": {"1", text}, "toDate": {text, text}, "date": {text, 1}, "dateInZone": {text, 1, "UTC"},
		"int": {text}, "int64": {text}, "float64": {text}, "duration": {text}, "durationRound": {text}, "add1": {text}, "floor": {text}, "round": {text, 1},
		"sub": {1, text}, "div": {text, 1}, "mod": {text, 1}, "add": {1, text}, "addf": {text}, "mul": {1, text}, "max": {text}, "minf": {1, text}, "has": {"a", []any{text}},
	} {
		r := newRun(context.Background(), nil, Options{})
		f := reflect.ValueOf(r.bounded(name, sprig.TxtFuncMap()[name]))
		in := make([]reflect.Value, len(args))
		for i, arg := range args {
			in[i] = reflect.ValueOf(arg)
		}
		if f.Call(in); r.work < len(text) {
			t.Errorf("%s counts %d bytes", name, r.work)
		}
	}
}
