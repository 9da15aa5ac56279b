package engine

import (
	"reflect"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
)

// cheap are functions that take no longer for larger arguments, or for strings only as long as
// reading them takes.
var cheap = words(` default coalesce ternary empty required fail getHostByName hello
	get set unset hasKey list tuple dict index dig pluck has mustHas
	kindOf kindIs typeOf typeIs typeIsLike first mustFirst last mustLast
	int int64 float64 add add1 sub mul div mod max min maxf minf biggest ceil floor round addf add1f subf mulf divf atoi toDecimal
	trim trimAll trimall trimSuffix trimPrefix hasPrefix hasSuffix contains trunc substr upper lower
	base dir ext clean isAbs osBase osDir osExt osClean osIsAbs plural now lookup semver semverCompare
	ago date htmlDate dateInZone date_in_zone htmlDateInZone toDate mustToDate duration durationRound unixEpoch
	dateModify date_modify mustDateModify must_date_modify
	randAlpha randAlphaNum randNumeric randAscii randBytes randInt uuidv4 bcrypt htpasswd buildCustomCert fromToml `)

// shallow are functions that copy a list or map, but not what it holds.
var shallow = words(` append push mustAppend mustPush prepend mustPrepend rest mustRest initial mustInitial reverse mustReverse
	slice mustSlice concat chunk mustChunk keys values pick omit all any compact mustCompact `)

// squares are functions that compare every element of a list with every other.
var squares = words(` uniq mustUniq without mustWithout `)

// bounded returns a function that counts its work, and is not called when that would be too
// much.
func (r *run) bounded(name string, fn any) any {
	if cheap[name] {
		return fn
	}
	switch fn := fn.(type) {
	case func(any) string:
		return func(v any) (string, error) {
			if err := r.afford(name, v); err != nil {
				return "", err
			}
			out := fn(v)
			return out, r.spend(len(out))
		}
	case func(int, string) string:
		return func(n int, s string) (string, error) {
			if err := r.afford(name, n, s); err != nil {
				return "", err
			}
			return fn(n, s), nil
		}
	}
	return r.boundedValue(name, reflect.ValueOf(fn))
}

func words(list string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		all[word] = true
	}
	return all
}

// boundedValue is bounded for a function of any type. Its errors are panics, which text/template
// takes as errors of the function.
func (r *run) boundedValue(name string, fn reflect.Value) any {
	call := fn.Call
	if fn.Type().IsVariadic() {
		call = fn.CallSlice
	}
	return reflect.MakeFunc(fn.Type(), func(args []reflect.Value) []reflect.Value {
		plain := make([]any, 0, len(args))
		for _, arg := range args {
			plain = append(plain, arg.Interface())
		}
		if err := r.afford(name, plain...); err != nil {
			panic(err)
		}
		results := call(args)
		if err := r.spend(outer(results[0])); err != nil {
			panic(err)
		}
		return results
	}).Interface()
}

// outer is the size of a value without what it holds.
func outer(v reflect.Value) int {
	for v.Kind() == reflect.Interface && !v.IsNil() {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.String:
		return v.Len()
	case reflect.Slice, reflect.Map:
		return 16 * v.Len()
	}
	return 16
}

// afford counts the work of a call before it is made.
func (r *run) afford(name string, args ...any) error {
	size := 0
	for _, arg := range args {
		if shallow[name] {
			size += outer(reflect.ValueOf(arg))
			continue
		}
		size += r.sizeOf(arg)
	}
	if grow := growth[name]; grow != nil {
		size += grow(size, args)
	}
	if squares[name] && len(args) > 0 {
		n := outer(reflect.ValueOf(args[0])) / 16
		size += n * n
	}
	if size < 0 || size > r.limits.Value {
		size = r.limits.Value + 1
	}
	return r.spend(size)
}

// maxNested is how deep values may be nested that functions go through.
const maxNested = 1_000

// size is about how many bytes writing a value takes, what it holds more than once counted
// again. It is more than Limits.Value for what is too large or holds itself.
func (r *run) size(v reflect.Value) int {
	budget := r.limits.Value + 1
	measure(v, 0, &budget)
	return r.limits.Value + 1 - max(budget, 0)
}

// sizeOf is the size of a value that is held.
func (r *run) sizeOf(v any) int {
	budget := r.limits.Value + 1
	measureHeld(v, 0, &budget)
	return r.limits.Value + 1 - max(budget, 0)
}

// measureHeld is measure for the value in an interface. What values are mostly made of is measured without reflection.
func measureHeld(v any, depth int, budget *int) {
	switch v := v.(type) {
	case map[string]any:
		measureMap(v, depth, budget)
	case common.Values:
		measureMap(v, depth, budget)
	case []any:
		if taken(depth, budget) {
			for i := 0; i < len(v) && *budget >= 0; i++ {
				measureInterface(v[i], depth+1, budget)
			}
		}
	case string:
		if taken(depth, budget) {
			*budget -= len(v)
		}
	case bool, int, int64, float64:
		taken(depth, budget)
	default:
		measure(reflect.ValueOf(v), depth, budget)
	}
}

func measureMap(m map[string]any, depth int, budget *int) {
	if !taken(depth, budget) {
		return
	}
	for key, value := range m {
		if *budget < 0 {
			return
		}
		if taken(depth+1, budget) {
			*budget -= len(key)
		}
		measureInterface(value, depth+1, budget)
	}
}

// measureInterface is measure for an interface that holds a value, which counts as one too.
func measureInterface(v any, depth int, budget *int) {
	if taken(depth, budget) && v != nil {
		measureHeld(v, depth+1, budget)
	}
}

// taken takes what every value costs off a budget, and reports whether that is left for what the value holds.
func taken(depth int, budget *int) bool {
	if *budget -= 8; *budget < 0 {
		return false
	}
	if depth > maxNested {
		*budget = -1
	}
	return *budget >= 0
}

// measure takes the size of a value off a budget.
func measure(v reflect.Value, depth int, budget *int) {
	if !taken(depth, budget) {
		return
	}
	switch v.Kind() {
	case reflect.String:
		*budget -= v.Len()
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			measure(v.Elem(), depth+1, budget)
		}
	case reflect.Slice, reflect.Array:
		measureList(v, depth, budget)
	case reflect.Map:
		for entries := v.MapRange(); *budget >= 0 && entries.Next(); {
			measure(entries.Key(), depth+1, budget)
			measure(entries.Value(), depth+1, budget)
		}
	case reflect.Struct:
		for i := 0; i < v.NumField() && *budget >= 0; i++ {
			measure(v.Field(i), depth+1, budget)
		}
	}
}

func measureList(v reflect.Value, depth int, budget *int) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		*budget -= v.Len()
		return
	}
	for i := 0; i < v.Len() && *budget >= 0; i++ {
		measure(v.Index(i), depth+1, budget)
	}
}
