package engine

import (
	"context"
	"reflect"
	"slices"
	"text/template"
	"time"
)

// ChanceFunctions are the functions that the engine has in place of those of chance, for
// another engine.
func ChanceFunctions(seed string, now time.Time) template.FuncMap {
	r := newRun(context.Background(), New(), Options{Seed: seed, Now: now})
	return r.chance.functions()
}

// PlainYAML and CopyPlain are what the functions toYaml and deepCopy do in less time.
func PlainYAML(v any) (string, bool) {
	text, ok := plainYAML(v)
	return string(text), ok
}

func CopyPlain(v any) (any, bool) { return copyPlain(v) }

// Sizes are the size of a value, measured with as little reflection as can be, and with reflection alone.
func Sizes(v any, limit int) (size, reflected int) {
	r := newRun(context.Background(), New(), Options{Limits: Limits{Value: limit}})
	return r.sizeOf(v), r.size(reflect.ValueOf(v))
}

// Functions are the names of all functions that charts may call.
func Functions() []string { return slices.Concat(sortedKeys(functionNames()), sortedKeys(builtins())) }

// FromYAML returns the function fromYaml of one engine.
func FromYAML() func(string) (map[string]any, error) { return newDecoded().fromYAML }

// ReadIn are the keys, variables and templates that the text of an action names.
func ReadIn(text string) (keys, variables, includes []string) {
	return keysIn(text), variablesIn(text), includesIn(text)
}
