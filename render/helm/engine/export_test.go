package engine

import (
	"context"
	"reflect"
	"slices"
	"text/template"
	"time"
)

// ChanceFunctions returns the engine's replacements for random functions, for use in another engine.
func ChanceFunctions(seed string, now time.Time) template.FuncMap {
	r := newRun(context.Background(), New(), Options{Seed: seed, Now: now})
	return r.chance.functions()
}

// PlainYAML and CopyPlain are the fast paths of the functions toYaml and deepCopy.
func PlainYAML(v any) (string, bool) {
	text, ok := plainYAML(v)
	return string(text), ok
}

func CopyPlain(v any) (any, bool) { return copyPlain(v) }

// Sizes returns the size of a value, measured with as little reflection as possible, and with reflection
// alone.
func Sizes(v any, limit int) (size, reflected int) {
	r := newRun(context.Background(), New(), Options{Limits: Limits{Value: limit}})
	return r.sizeOf(v), r.size(reflect.ValueOf(v))
}

// Functions returns the names of all functions that charts may call.
func Functions() []string { return slices.Concat(sortedKeys(functionNames()), sortedKeys(builtins())) }

// FromYAML returns an engine's function fromYaml.
func FromYAML() func(string) (map[string]any, error) { return newDecoded().fromYAML }

// ReadIn returns the keys, variables and templates that the text of an action names.
func ReadIn(text string) (keys, variables, includes []string) {
	return keysIn(text), variablesIn(text), includesIn(text)
}
