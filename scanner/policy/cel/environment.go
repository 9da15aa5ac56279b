package cel

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Environment returns the API server's CEL environment, in which loops iterate over maps in the order
// of their keys. A server uses Go's random order; here equal requests get equal messages. The work of
// calls is limited; see limits.go.
func Environment() (*environment.EnvSet, error) {
	base := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	env, err := base.Env(environment.StoredExpressions)
	if err != nil {
		return nil, err
	}
	limits, err := limited(env, false)
	if err != nil {
		return nil, err
	}
	values := &ordered{Provider: env.CELTypeProvider(), adapter: env.CELTypeAdapter()}
	return base.Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		// Kubernetes' types, declared on top, take the adapter from the provider.
		EnvOptions:     []celgo.EnvOption{celgo.CustomTypeProvider(values), celgo.CustomTypeAdapter(values)},
		ProgramOptions: []celgo.ProgramOption{limits},
	})
}

// ordered converts Go values into CEL values whose maps have an order.
type ordered struct {
	types.Provider
	adapter types.Adapter
}

// NativeToValue implements types.Adapter.
func (o *ordered) NativeToValue(value any) ref.Val {
	switch v := value.(type) {
	case *OpenMap:
		return v.as(o)
	case map[string]any:
		return &contentMap{ordered: o, content: v}
	case []any:
		return types.NewDynamicList(o, v)
	case map[ref.Val]ref.Val:
		return orderedMap{types.NewRefValMap(o, v)}
	}
	return o.adapter.NativeToValue(value)
}

// contentMap is a map of an object's content.
type contentMap struct {
	*ordered
	content map[string]any
}

var (
	_ traits.Mapper   = (*contentMap)(nil)
	_ traits.Foldable = (*contentMap)(nil)
	_ traits.Zeroer   = (*contentMap)(nil)
)

// plain returns cel-go's own value for the map.
func (m *contentMap) plain() traits.Mapper { return types.NewStringInterfaceMap(m.ordered, m.content) }

// Find implements traits.Mapper.
func (m *contentMap) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		return nil, false
	}
	value, found := m.content[string(name)]
	if !found {
		return nil, false
	}
	return m.NativeToValue(value), true
}

// Get implements traits.Indexer.
func (m *contentMap) Get(key ref.Val) ref.Val { return m.plain().Get(key) }

// Contains implements traits.Container.
func (m *contentMap) Contains(key ref.Val) ref.Val {
	name, ok := key.(types.String)
	_, found := m.content[string(name)]
	return types.Bool(ok && found)
}

// Size implements traits.Sizer.
func (m *contentMap) Size() ref.Val { return types.Int(len(m.content)) }

// IsZeroValue implements traits.Zeroer.
func (m *contentMap) IsZeroValue() bool { return len(m.content) == 0 }

// Iterator implements traits.Iterable.
func (m *contentMap) Iterator() traits.Iterator {
	keys := slices.Sorted(maps.Keys(m.content))
	return types.NewStringList(m.ordered, keys).Iterator()
}

// Fold implements traits.Foldable.
func (m *contentMap) Fold(f traits.Folder) {
	for _, key := range slices.Sorted(maps.Keys(m.content)) {
		if !f.FoldEntry(key, m.content[key]) {
			return
		}
	}
}

// Equal implements ref.Val.
func (m *contentMap) Equal(other ref.Val) ref.Val { return m.plain().Equal(other) }

// ConvertToNative implements ref.Val.
func (m *contentMap) ConvertToNative(to reflect.Type) (any, error) {
	return m.plain().ConvertToNative(to)
}

// ConvertToType implements ref.Val.
func (m *contentMap) ConvertToType(to ref.Type) ref.Val {
	if to == types.MapType {
		return m
	}
	return m.plain().ConvertToType(to)
}

// Type implements ref.Val.
func (m *contentMap) Type() ref.Type { return types.MapType }

// Value implements ref.Val.
func (m *contentMap) Value() any { return m.content }

// String returns the map for a message.
func (m *contentMap) String() string { return fmt.Sprint(m.plain()) }

// orderedMap is a map that an expression constructs.
type orderedMap struct{ traits.Mapper }

// IsZeroValue implements traits.Zeroer.
func (m orderedMap) IsZeroValue() bool { return m.Size() == types.IntZero }

// ConvertToType implements ref.Val.
func (m orderedMap) ConvertToType(to ref.Type) ref.Val {
	if to == types.MapType {
		return m
	}
	return m.Mapper.ConvertToType(to)
}

// Iterator implements traits.Iterable.
func (m orderedMap) Iterator() traits.Iterator {
	return types.NewRefValList(types.DefaultTypeAdapter, m.keys()).Iterator()
}

// Fold implements traits.Foldable.
func (m orderedMap) Fold(f traits.Folder) {
	for _, key := range m.keys() {
		if value, _ := m.Find(key); !f.FoldEntry(key, value) {
			return
		}
	}
}

// keys returns the keys, sorted by type and value.
func (m orderedMap) keys() []ref.Val {
	var keys []ref.Val
	for it := m.Mapper.Iterator(); it.HasNext() == types.True; {
		keys = append(keys, it.Next())
	}
	slices.SortFunc(keys, func(a, b ref.Val) int {
		if a.Type() != b.Type() {
			return cmp.Compare(a.Type().TypeName(), b.Type().TypeName())
		}
		if c, ok := a.(traits.Comparer); ok {
			if order, ok := c.Compare(b).(types.Int); ok {
				return int(order)
			}
		}
		return 0
	})
	return keys
}
