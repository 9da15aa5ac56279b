package cel

import (
	"math/bits"
	"reflect"
	"strings"

	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// effort is the maximum work of a call: values read, and bytes of its result.
type effort struct{ work, built int64 }

// A call with less work is not counted: its cost covers it.
const (
	smallWork     = 1_000
	smallBuilt    = 16 * smallWork
	bytesPerValue = 16
	// bytesPerElement is the size of an element of a new list, including temporary copies.
	bytesPerElement = 64
)

func (e effort) isLarge() bool {
	return e.work > smallWork || e.work < 0 || e.built > smallBuilt || e.built < 0
}

// efforts maps functions that can do much more work than they cost to their maximum work for given
// arguments.
var efforts = map[string]func(m measure, a, b, c ref.Val) effort{
	operators.Equals:        comparison,
	operators.NotEquals:     comparison,
	operators.Less:          texts,
	operators.LessEquals:    texts,
	operators.Greater:       texts,
	operators.GreaterEquals: texts,
	operators.Add:           addition,
	operators.In:            membership,
	"size":                  texts,
	"indexOf":               search,
	"lastIndexOf":           search,
	"isSorted":              elements,
	"sum":                   elements,
	"min":                   elements,
	"max":                   elements,
	"sort":                  sorting,
	"distinct":              pairs,
	"sets.contains":         pairs,
	"sets.equivalent":       pairs,
	"sets.intersects":       pairs,
	"flatten":               copying,
	"slice":                 listCopy,
	"reverse":               listCopy,
	"lists.range":           numbers,
	"join":                  joining,
	"format":                formatting,
	"split":                 splitting,
	"replace":               replacing,
	"strings.quote":         quoting,
	"lowerAscii":            textCopy,
	"upperAscii":            textCopy,
	"trim":                  texts,
	"string":                textCopy,
	"bytes":                 textCopy,
}

// length returns the number of elements or bytes of a value that has any, else 1.
func length(v ref.Val) int64 {
	switch v := v.(type) {
	case types.String:
		return int64(len(v))
	case types.Bytes:
		return int64(len(v))
	case traits.Sizer:
		if n, ok := v.Size().(types.Int); ok {
			return int64(n)
		}
	}
	return 1
}

func isContainer(v ref.Val) bool {
	switch v := v.(type) {
	case types.String, types.Int, types.Bool, types.Null, types.Double, types.Uint, nil:
		return false
	case *contentMap, traits.Lister, traits.Mapper:
		return true
	case *types.Optional:
		return v.HasValue() && isContainer(v.GetValue())
	}
	return false
}

// maxWeight is a weight above all limits, small enough to be added to.
const maxWeight = 1 << 50

// measure computes the weights of the values of an evaluation.
type measure struct{ vars interpreter.Activation }

// weight returns the number of values in a value, counting nested ones each time they occur and long
// texts several times. The weights of containers are cached: an expression can nest a container in
// itself so often that its weight is astronomical.
func (m measure) weight(v ref.Val) int64 {
	if !isContainer(v) {
		return 1 + textLength(v)/bytesPerValue
	}
	return workloadOf(m.vars).weigh(v)
}

func (w *Workload) weigh(v ref.Val) int64 {
	switch v := v.(type) {
	case types.String, types.Bytes:
		return 1 + textLength(v)/bytesPerValue
	case *contentMap:
		return weighContent(v.content)
	case *types.Optional:
		if v.HasValue() {
			return 1 + w.weigh(v.GetValue())
		}
	case orderedMap:
		return w.keep(v.Mapper, v)
	case traits.MutableLister:
		return w.weighItems(v)
	case traits.Lister, traits.Mapper:
		if reflect.TypeOf(v).Kind() == reflect.Pointer {
			return w.keep(v, v)
		}
		return w.weighItems(v)
	}
	return 1
}

// keep returns the weight of a container, computed once for each identity.
func (w *Workload) keep(identity any, v ref.Val) int64 {
	if n, ok := w.weights[identity]; ok {
		return n
	}
	if w.weights == nil {
		w.weights = map[any]int64{}
	}
	n := w.weighItems(v)
	w.weights[identity] = n
	return n
}

func (w *Workload) weighItems(v ref.Val) int64 {
	n := int64(1)
	container, ok := v.(traits.Iterable)
	if !ok {
		return n
	}
	values, _ := v.(traits.Mapper)
	for it := container.Iterator(); it.HasNext() == types.True; {
		item := it.Next()
		n += w.weigh(item)
		if values != nil {
			n += w.weigh(values.Get(item))
		}
		n = min(n, maxWeight)
	}
	return n
}

// weighContent returns the weight of an object's content, which a server bounds by its size.
func weighContent(content any) int64 {
	n := int64(1)
	switch v := content.(type) {
	case string:
		n += int64(len(v)) / bytesPerValue
	case map[string]any:
		for _, value := range v {
			n += 1 + weighContent(value)
		}
	case []any:
		for _, item := range v {
			n += weighContent(item)
		}
	}
	return n
}

// comparison compares two containers, up to the size of the smaller one.
func comparison(m measure, a, b, _ ref.Val) effort {
	if !isContainer(a) || !isContainer(b) {
		return effort{}
	}
	return effort{work: min(m.weight(a), m.weight(b))}
}

// texts reads texts once.
func texts(m measure, a, b, _ ref.Val) effort {
	return effort{work: textLength(a)/bytesPerValue + textLength(b)/bytesPerValue}
}

// textLength returns the length of a text, 0 for other values.
func textLength(v ref.Val) int64 {
	switch v := v.(type) {
	case types.String:
		return int64(len(v))
	case types.Bytes:
		return int64(len(v))
	}
	return 0
}

func textCopy(m measure, a, _, _ ref.Val) effort { return effort{built: textLength(a)} }

func quoting(m measure, a, _, _ ref.Val) effort { return effort{built: 4 * textLength(a)} }

func addition(m measure, a, b, _ ref.Val) effort {
	switch l := a.(type) {
	case types.Int, types.Double, types.Uint:
		return effort{}
	case types.String, types.Bytes:
		return effort{built: textLength(a) + textLength(b)}
	case traits.MutableLister: // the lists of macros, to which one element is added
		return effort{}
	case traits.Lister:
		return effort{built: bytesPerElement * (length(l) + length(b))}
	}
	return effort{}
}

// membership compares a value with the elements of a list.
func membership(m measure, what, list, _ ref.Val) effort { return search(m, list, what, nil) }

// search searches a value in a list, or a text in a text.
func search(m measure, where, what, _ ref.Val) effort {
	switch where.(type) {
	case types.String:
		return effort{work: product(textLength(where), textLength(what)) / bytesPerValue}
	case traits.Lister:
		if isContainer(what) || textLength(what) > smallBuilt {
			return effort{work: m.weight(where)}
		}
	}
	return effort{}
}

// elements reads a list once.
func elements(m measure, list, _, _ ref.Val) effort { return effort{work: m.weight(list)} }

func sorting(m measure, list, _, _ ref.Val) effort {
	n := m.weight(list)
	return effort{work: product(n, int64(bits.Len64(uint64(n))))}
}

// pairs compares each element of a list with those of another, or with one another.
func pairs(m measure, a, b, _ ref.Val) effort {
	if b == nil {
		b = a
	}
	return effort{work: min(product(m.weight(a), length(b)), product(m.weight(b), length(a)))}
}

func copying(m measure, list, _, _ ref.Val) effort {
	return effort{built: bytesPerValue * m.weight(list)}
}

func listCopy(m measure, list, _, _ ref.Val) effort {
	return effort{built: bytesPerElement * length(list)}
}

func numbers(m measure, n, _, _ ref.Val) effort {
	count, _ := n.(types.Int)
	return effort{built: product(bytesPerElement, int64(count))}
}

// joining repeats the separator between the elements of a list.
func joining(m measure, list, separator, _ ref.Val) effort {
	return effort{built: bytesPerValue*m.weight(list) + product(length(list), textLength(separator))}
}

func formatting(m measure, text, values, _ ref.Val) effort {
	if values == nil {
		return effort{}
	}
	return effort{built: textLength(text) + bytesPerValue*m.weight(values)}
}

func splitting(m measure, text, separator, _ ref.Val) effort {
	t, _ := text.(types.String)
	s, _ := separator.(types.String)
	return effort{built: bytesPerElement * int64(1+strings.Count(string(t), string(s)))}
}

func replacing(m measure, text, old, replacement ref.Val) effort {
	t, _ := text.(types.String)
	o, _ := old.(types.String)
	return effort{built: int64(len(t)) + product(int64(strings.Count(string(t), string(o))), textLength(replacement))}
}

// product returns a times b, 0 if one is negative. An overflow returns a number above all limits.
func product(a, b int64) int64 {
	if a <= 0 || b <= 0 {
		return 0
	}
	if hi, lo := bits.Mul64(uint64(a), uint64(b)); hi == 0 && lo <= 1<<62 {
		return int64(lo)
	}
	return 1 << 62
}

// longList is the length from which the sum of two lists is copied into one: cel-go links the two,
// and follows all links to compute the length.
const longList = 1_000

// flat returns a value; a long list of linked lists is copied into one list.
func flat(v ref.Val) ref.Val {
	list, ok := v.(traits.Lister)
	if !ok || length(list) < longList {
		return v
	}
	if _, mutable := v.(traits.MutableLister); mutable {
		return v
	}
	items := make([]ref.Val, 0, length(list))
	for it := list.Iterator(); it.HasNext() == types.True; {
		items = append(items, it.Next())
	}
	return types.NewRefValList(types.DefaultTypeAdapter, items)
}
