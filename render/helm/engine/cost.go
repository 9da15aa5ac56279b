package engine

import (
	"reflect"
	"strings"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"
)

// cheap are functions that take constant time, or the time to read their strings or list, which reading counts.
var cheap = words(` default coalesce ternary empty required fail getHostByName hello
	get set unset hasKey list tuple index dig pluck has mustHas
	kindOf kindIs typeOf typeIs typeIsLike first mustFirst last mustLast
	int int64 float64 add add1 sub mul div mod max min maxf minf biggest ceil floor round addf add1f subf mulf divf atoi toDecimal
	trim trimAll trimall trimSuffix trimPrefix hasPrefix hasSuffix contains trunc substr upper lower
	base dir ext clean isAbs osBase osDir osExt osClean osIsAbs plural now lookup semver semverCompare
	ago date htmlDate dateInZone date_in_zone htmlDateInZone toDate mustToDate duration durationRound unixEpoch
	dateModify date_modify mustDateModify must_date_modify
	randAlpha randAlphaNum randNumeric randAscii randBytes randInt uuidv4 bcrypt htpasswd buildCustomCert fromToml `)

// shallow are functions that copy a list or map, but not its elements.
var shallow = words(` append push mustAppend mustPush prepend mustPrepend rest mustRest initial mustInitial reverse mustReverse
	slice mustSlice concat chunk mustChunk keys values pick omit all any compact mustCompact `)

// squares are functions that compare every element of a list with every other.
var squares = words(` uniq mustUniq without mustWithout `)

// bounded returns a function that counts its work and fails before a call that would exceed the limits.
func (r *run) bounded(name string, fn any) any {
	if cheap[name] {
		return r.reading(fn)
	}
	switch fn := fn.(type) {
	case func(...any) map[string]any:
		return r.boundedKeys(name, fn)
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

// reading returns a cheap function that counts the strings it reads, and the list that it searches.
func (r *run) reading(fn any) any {
	switch fn := fn.(type) {
	case func(string) string:
		return func(s string) (string, error) { return after(r.read(s), func() string { return fn(s) }) }
	case func(string) int:
		return func(s string) (int, error) { return after(r.read(s), func() int { return fn(s) }) }
	case func(string) (map[string]any, error):
		return func(s string) (map[string]any, error) {
			if err := r.read(s); err != nil {
				return nil, err
			}
			return fn(s)
		}
	case func(string, string) string:
		return func(a, b string) (string, error) { return after(r.read(a, b), func() string { return fn(a, b) }) }
	case func(string, string) bool:
		return func(a, b string) (bool, error) { return after(r.read(a, b), func() bool { return fn(a, b) }) }
	case func(string, string) time.Time:
		return func(a, b string) (time.Time, error) {
			return after(r.read(a, b), func() time.Time { return fn(a, b) })
		}
	case func(string, any) string:
		return func(a string, b any) (string, error) { return after(r.read(a), func() string { return fn(a, b) }) }
	case func(string, any, string) string:
		return func(a string, b any, c string) (string, error) {
			return after(r.read(a, b, c), func() string { return fn(a, b, c) })
		}
	case func(any) string:
		return func(v any) (string, error) { return after(r.read(v), func() string { return fn(v) }) }
	case func(any) int:
		return func(v any) (int, error) { return after(r.read(v), func() int { return fn(v) }) }
	case func(any) int64:
		return func(v any) (int64, error) { return after(r.read(v), func() int64 { return fn(v) }) }
	case func(any) float64:
		return func(v any) (float64, error) { return after(r.read(v), func() float64 { return fn(v) }) }
	case func(any, any) int64:
		return func(a, b any) (int64, error) { return after(r.read(a, b), func() int64 { return fn(a, b) }) }
	case func(any, int, ...float64) float64:
		return func(v any, places int, from ...float64) (float64, error) {
			return after(r.read(v), func() float64 { return fn(v, places, from...) })
		}
	case func(...any) int64:
		return func(all ...any) (int64, error) { return after(r.read(all...), func() int64 { return fn(all...) }) }
	case func(...any) float64:
		return func(all ...any) (float64, error) { return after(r.read(all...), func() float64 { return fn(all...) }) }
	case func(any, ...any) int64:
		return func(v any, more ...any) (int64, error) {
			return after(r.readAll(v, more), func() int64 { return fn(v, more...) })
		}
	case func(any, ...any) float64:
		return func(v any, more ...any) (float64, error) {
			return after(r.readAll(v, more), func() float64 { return fn(v, more...) })
		}
	case func(any, any) bool:
		return func(a, in any) (bool, error) { return after(r.search(in), func() bool { return fn(a, in) }) }
	case func(any, any) (bool, error):
		return func(a, in any) (bool, error) {
			if err := r.search(in); err != nil {
				return false, err
			}
			return fn(a, in)
		}
	}
	return fn
}

// after calls a function unless there is an error.
func after[T any](err error, fn func() T) (result T, _ error) {
	if err != nil {
		return result, err
	}
	return fn(), nil
}

// read counts the strings among values as read.
func (r *run) read(values ...any) error {
	size := 0
	for _, v := range values {
		s, _ := v.(string)
		size += len(s)
	}
	return r.spend(min(size, r.limits.Value))
}

// readAll is read for the arguments of a function with one or more.
func (r *run) readAll(first any, more []any) error {
	if err := r.read(first); err != nil {
		return err
	}
	return r.read(more...)
}

// search counts a list as compared with a value.
func (r *run) search(list any) error { return r.spend(min(r.sizeOf(list), r.limits.Value)) }

// boundedKeys is bounded for dict, which converts only its keys to texts.
func (r *run) boundedKeys(name string, dict func(...any) map[string]any) any {
	return func(all ...any) (map[string]any, error) {
		for i := 0; i < len(all); i += 2 {
			if _, ok := all[i].(string); ok {
				continue
			}
			if err := r.afford(name, all[i]); err != nil {
				return nil, err
			}
		}
		return dict(all...), nil
	}
}

func words(list string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		all[word] = true
	}
	return all
}

// boundedValue is bounded for a function of any type. It reports errors as panics, which text/template
// converts to errors of the function.
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

// outer returns the size of a value without its elements.
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

// maxNested limits the depth of values that functions traverse.
const maxNested = 1_000

// meter counts the size of a value.
type meter struct {
	// left is the size that remains; negative if the value is too large.
	left int
	// capabilities is set when .Capabilities is part of it.
	capabilities bool
}

// size returns the approximate number of bytes of a printed value; parts that occur several times count each
// time. It exceeds Limits.Value for a value that is too large or contains itself.
func (r *run) size(v reflect.Value) int {
	m := &meter{left: r.limits.Value + 1}
	measure(v, 0, m)
	return r.measured(m)
}

// sizeOf is size for a value in an interface.
func (r *run) sizeOf(v any) int {
	m := &meter{left: r.limits.Value + 1}
	measureHeld(v, 0, m)
	return r.measured(m)
}

// measured returns the size that a meter counted.
func (r *run) measured(m *meter) int {
	if m.capabilities {
		r.readKubeVersion()
	}
	return r.limits.Value + 1 - max(m.left, 0)
}

// measureHeld is measure for the value in an interface. It measures the common types without reflection.
func measureHeld(v any, depth int, m *meter) {
	switch v := v.(type) {
	case map[string]any:
		measureMap(v, depth, m)
	case common.Values:
		measureMap(v, depth, m)
	case []any:
		if taken(depth, m) {
			for i := 0; i < len(v) && m.left >= 0; i++ {
				measureInterface(v[i], depth+1, m)
			}
		}
	case string:
		if taken(depth, m) {
			m.left -= len(v)
		}
	case bool, int, int64, float64:
		taken(depth, m)
	default:
		measure(reflect.ValueOf(v), depth, m)
	}
}

func measureMap(of map[string]any, depth int, m *meter) {
	if !taken(depth, m) {
		return
	}
	for key, value := range of {
		if m.left < 0 {
			return
		}
		if taken(depth+1, m) {
			m.left -= len(key)
		}
		measureInterface(value, depth+1, m)
	}
}

// measureInterface is measure for an interface with its value. The interface counts as a value too.
func measureInterface(v any, depth int, m *meter) {
	if taken(depth, m) && v != nil {
		measureHeld(v, depth+1, m)
	}
}

// taken subtracts the constant cost of a value, and reports whether something is left for its elements.
func taken(depth int, m *meter) bool {
	if m.left -= 8; m.left < 0 {
		return false
	}
	if depth > maxNested {
		m.left = -1
	}
	return m.left >= 0
}

// measure subtracts the size of a value from the size that is left.
func measure(v reflect.Value, depth int, m *meter) {
	if !taken(depth, m) {
		return
	}
	switch v.Kind() {
	case reflect.String:
		m.left -= v.Len()
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			measure(v.Elem(), depth+1, m)
		}
	case reflect.Slice, reflect.Array:
		measureList(v, depth, m)
	case reflect.Map:
		for entries := v.MapRange(); m.left >= 0 && entries.Next(); {
			measure(entries.Key(), depth+1, m)
			measure(entries.Value(), depth+1, m)
		}
	case reflect.Struct:
		m.capabilities = m.capabilities || v.Type() == capabilitiesType
		for i := 0; i < v.NumField() && m.left >= 0; i++ {
			measure(v.Field(i), depth+1, m)
		}
	}
}

func measureList(v reflect.Value, depth int, m *meter) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		m.left -= v.Len()
		return
	}
	for i := 0; i < v.Len() && m.left >= 0; i++ {
		measure(v.Index(i), depth+1, m)
	}
}
