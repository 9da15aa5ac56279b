package cel

import (
	"slices"
	"strings"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Unknown values are CEL's own (types.Unknown), in the maps and lists of an object's content. cel-go
// propagates them through operators, logic and loops, but not everywhere: has() is true for a field
// of an unknown value, and functions ignore those inside lists and maps. So has() and the ranges of
// loops are calls here, and the arguments of calls are searched for unknown values.
const (
	hasFunction   = "@known_has"
	rangeFunction = "@known_range"
)

// PartialEnvironment returns Environment for unknown values. It is slower, and the cost of
// expressions in it differs slightly from a server's.
func PartialEnvironment() (*environment.EnvSet, error) {
	base := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	env, err := base.Env(environment.StoredExpressions)
	if err != nil {
		return nil, err
	}
	calls, err := limited(env, true)
	if err != nil {
		return nil, err
	}
	values := &ordered{Provider: env.CELTypeProvider(), adapter: env.CELTypeAdapter()}
	t := celgo.TypeParamType("T")
	return base.Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions: []celgo.EnvOption{
			celgo.CustomTypeProvider(values), celgo.CustomTypeAdapter(values),
			celgo.Function(hasFunction, celgo.Overload("known_has_dyn_string", []*celgo.Type{celgo.DynType, celgo.StringType}, celgo.BoolType, celgo.BinaryBinding(knownHas))),
			celgo.Function(rangeFunction, celgo.Overload("known_range_T", []*celgo.Type{t}, t, celgo.UnaryBinding(knownRange))),
			celgo.Macros(knownMacros(env.Macros())...),
		},
		ProgramOptions: []celgo.ProgramOption{calls},
	})
}

// knownMacros returns the macros that are changed to handle unknown values.
func knownMacros(all []celgo.Macro) []celgo.Macro {
	var macros []celgo.Macro
	for _, m := range all {
		expand := m.Expander()
		switch name := m.Function(); {
		case name == operators.Has:
			macros = append(macros, celgo.GlobalMacro(name, 1, expandHas(expand)))
		case !m.IsReceiverStyle() || strings.HasPrefix(name, "opt"): // not a loop
		default:
			macros = append(macros, celgo.ReceiverMacro(name, m.ArgCount(), func(f celgo.MacroExprFactory, target ast.Expr, args []ast.Expr) (ast.Expr, *celgo.Error) {
				return expand(f, f.NewCall(rangeFunction, target), args)
			}))
		}
	}
	return macros
}

func expandHas(otherwise celgo.MacroFactory) celgo.MacroFactory {
	return func(f celgo.MacroExprFactory, target ast.Expr, args []ast.Expr) (ast.Expr, *celgo.Error) {
		if args[0].Kind() != ast.SelectKind {
			return otherwise(f, target, args)
		}
		s := args[0].AsSelect()
		return f.NewCall(hasFunction, s.Operand(), f.NewLiteral(types.String(s.FieldName()))), nil
	}
}

// knownHas implements the macro has().
func knownHas(value, field ref.Val) ref.Val {
	if optional, ok := value.(*types.Optional); ok {
		if !optional.HasValue() {
			return types.False
		}
		return knownHas(optional.GetValue(), field)
	}
	switch v := value.(type) {
	case *types.Unknown, *types.Err:
		return v
	case traits.Mapper:
		item, found := v.Find(field)
		if found && (types.IsError(item) || IsMaybe(item)) {
			return item
		}
		return types.Bool(found)
	case traits.FieldTester:
		return v.IsSet(field)
	}
	return types.False
}

// knownRange returns the range of a loop: unknown if it may have more elements.
func knownRange(value ref.Val) ref.Val {
	if u := open(value); u != nil {
		return u
	}
	return value
}

// UnknownID returns the number of the unknown value with an index. It is odd if the field may be
// absent.
func UnknownID(index int, maybe bool) int64 {
	id := 2 * int64(index+1)
	if maybe {
		id++
	}
	return id
}

// UnknownIndex returns the index of an UnknownID.
func UnknownIndex(id int64) int { return int(id/2 - 1) }

// IsMaybe reports whether a value is an unknown field that may be absent.
func IsMaybe(v ref.Val) bool {
	u, ok := v.(*types.Unknown)
	return ok && slices.ContainsFunc(u.IDs(), func(id int64) bool { return id%2 == 1 })
}

// OpenMap is a map that may have more keys than the known ones. Environments convert it to a CEL map.
type OpenMap struct {
	// Content are the known keys.
	Content map[string]any
	// Missing returns the unknown value of any other key.
	Missing func(key string) *types.Unknown
	*contentMap
}

// as returns the map with the adapter of an environment.
func (m *OpenMap) as(o *ordered) *OpenMap {
	if m.contentMap != nil {
		return m
	}
	return &OpenMap{Content: m.Content, Missing: m.Missing, contentMap: &contentMap{ordered: o, content: m.Content}}
}

// Find implements traits.Mapper.
func (m *OpenMap) Find(key ref.Val) (ref.Val, bool) {
	if value, found := m.contentMap.Find(key); found {
		return value, true
	}
	if name, ok := key.(types.String); ok {
		return m.Missing(string(name)), true
	}
	return nil, false
}

// Get implements traits.Indexer.
func (m *OpenMap) Get(key ref.Val) ref.Val {
	if value, found := m.Find(key); found {
		return value
	}
	return m.contentMap.Get(key)
}

// IsZeroValue implements traits.Zeroer.
func (m *OpenMap) IsZeroValue() bool { return false }

// open returns an unknown value if a map may have more keys; nil if all are known, and for other
// values.
func open(value ref.Val) *types.Unknown {
	if m, ok := value.(*OpenMap); ok {
		return m.Missing("...")
	}
	m, ok := value.(*contentMap)
	if !ok {
		return nil
	}
	var all *types.Unknown
	for _, item := range m.content {
		if u, ok := item.(*types.Unknown); ok && IsMaybe(u) {
			all = types.MergeUnknowns(u, all)
		}
	}
	return all
}

// absorbed returns the result of a call if unknown values in its arguments determine it; nil if they
// do not.
func absorbed(function string, args []ref.Val) ref.Val {
	var all *types.Unknown
	for _, arg := range args {
		if u := holds(arg); u != nil {
			all = types.MergeUnknowns(u, all)
		}
	}
	if all == nil {
		return nil
	}
	switch function {
	case hasFunction, rangeFunction, "dyn", "optional.of", "or", "orValue", "value", "hasValue":
		return nil // these only use their direct arguments
	case operators.Add:
		if _, isList := args[0].(traits.Lister); isList {
			return nil
		}
	case "size":
		if u := open(args[0]); u != nil {
			return u
		}
		return nil
	case operators.Equals:
		return equal(args[0], args[1])
	case operators.NotEquals:
		if same, ok := equal(args[0], args[1]).(types.Bool); ok {
			return !same
		}
	case operators.In:
		return contains(args[1], args[0], all)
	}
	return all
}

// holds returns an unknown value that equals or is inside a value, at any depth; nil when all is
// known.
func holds(value ref.Val) *types.Unknown {
	switch v := value.(type) {
	case *types.Unknown:
		return v
	case types.String, types.Int, types.Bool, types.Null, types.Double, types.Uint, types.Bytes, nil:
		return nil
	case *OpenMap:
		return open(v)
	case *contentMap:
		return holdsContent(v.content)
	case *types.Optional:
		if v.HasValue() {
			return holds(v.GetValue())
		}
	case traits.Lister:
		return holdsItems(v, nil)
	case traits.Mapper:
		if _, iterable := v.(traits.Iterable); iterable && v.Type() == types.MapType {
			return holdsItems(v, v)
		}
	}
	return nil
}

func holdsItems(container traits.Iterable, values traits.Mapper) *types.Unknown {
	for it := container.Iterator(); it.HasNext() == types.True; {
		item := it.Next()
		if u := holds(item); u != nil {
			return u
		}
		if values != nil {
			if u := holds(values.Get(item)); u != nil {
				return u
			}
		}
	}
	return nil
}

func holdsContent(content any) *types.Unknown {
	var all *types.Unknown
	switch v := content.(type) {
	case *types.Unknown:
		return v
	case *OpenMap:
		return v.Missing("...")
	case map[string]any:
		for _, item := range v {
			if u := holdsContent(item); u != nil {
				all = types.MergeUnknowns(u, all)
			}
		}
	case []any:
		for _, item := range v {
			if u := holdsContent(item); u != nil {
				all = types.MergeUnknowns(u, all)
			}
		}
	}
	return all
}

// equal compares two values: values that differ in a known part are not equal, whatever the unknown
// parts are.
func equal(a, b ref.Val) ref.Val {
	if u, ok := a.(*types.Unknown); ok {
		return u
	}
	if u, ok := b.(*types.Unknown); ok {
		return u
	}
	if holds(a) == nil && holds(b) == nil {
		return types.Equal(a, b)
	}
	if l, ok := a.(traits.Lister); ok {
		if r, ok := b.(traits.Lister); ok {
			return equalLists(l, r)
		}
	}
	if l, ok := a.(traits.Mapper); ok {
		if r, ok := b.(traits.Mapper); ok {
			return equalMaps(l, r)
		}
	}
	return types.False
}

func equalLists(a, b traits.Lister) ref.Val {
	if a.Size() != b.Size() {
		return types.False
	}
	var unsure ref.Val = types.True
	for i := types.Int(0); i < a.Size().(types.Int); i++ {
		switch same := equal(a.Get(i), b.Get(i)); {
		case same == types.False:
			return types.False
		case same != types.True:
			unsure = same
		}
	}
	return unsure
}

func equalMaps(a, b traits.Mapper) ref.Val {
	var unsure ref.Val = types.True
	if u := types.MergeUnknowns(open(a), open(b)); u != nil {
		unsure = u
	}
	for _, maps := range [][2]traits.Mapper{{a, b}, {b, a}} {
		for it := maps[0].Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			mine := maps[0].Get(key)
			other, found := maps[1].Find(key)
			same := mine
			if found {
				same = equal(mine, other)
			} else if !IsMaybe(mine) {
				return types.False
			}
			switch {
			case same == types.False && !IsMaybe(mine) && !IsMaybe(other):
				return types.False
			case same != types.True:
				unsure = same
			}
		}
	}
	return unsure
}

// contains implements the operator in.
func contains(container, value ref.Val, all *types.Unknown) ref.Val {
	switch c := container.(type) {
	case traits.Lister:
		var unsure ref.Val = types.False
		for it := c.Iterator(); it.HasNext() == types.True; {
			switch same := equal(value, it.Next()); {
			case same == types.True:
				return types.True
			case types.IsUnknown(same):
				unsure = same
			}
		}
		return unsure
	case traits.Mapper:
		if u := holds(value); u != nil {
			return u
		}
		item, found := c.Find(value)
		if found && IsMaybe(item) {
			return item
		}
		return types.Bool(found)
	}
	return all
}
