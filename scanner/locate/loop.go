package locate

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// loop is a macro over the elements of a list or the keys of a map.
type loop struct {
	run      *run
	scope    *scope
	list     value
	elements []element
	isMap    bool
	vars     []string
	body     []ast.Expr
}

// macro evaluates a call of a macro on its target. ok is false if the call is not a macro.
func (r *run) macro(c ast.CallExpr, s *scope) (v value, ok bool) {
	name, args := c.FunctionName(), c.Args()
	if len(args) < 2 || args[0].Kind() != ast.IdentKind {
		return value{}, false
	}
	if (name == "optMap" || name == "optFlatMap") && len(args) == 2 {
		return r.optMap(name == "optFlatMap", c.Target(), args, s), true
	}
	vars := variablesOf(name, args)
	if vars == 0 || len(args) <= vars {
		return value{}, false
	}
	l := &loop{run: r, scope: s, body: args[vars:]}
	for _, a := range args[:vars] {
		l.vars = append(l.vars, a.AsIdent())
	}
	l.list = r.eval(c.Target(), s)
	if l.list.isError() {
		return l.list, true
	}
	if l.elements, l.isMap, ok = l.list.elements(maxSteps); !ok {
		return failed("nothing to go through", l.list.reads()), true
	}
	return l.evaluate(name), true
}

// variablesOf returns the number of variables of a loop, 0 if the call is not a loop.
func variablesOf(name string, args []ast.Expr) int {
	switch name {
	case "all", "exists", "exists_one", "existsOne":
		if len(args) == 3 && args[1].Kind() == ast.IdentKind {
			return 2
		}
		return 1
	case "filter", "map", "sortBy":
		return 1
	case "transformList", "transformMap", "transformMapEntry":
		if args[1].Kind() == ast.IdentKind {
			return 2
		}
	}
	return 0
}

func (l *loop) evaluate(name string) value {
	switch name {
	case "all":
		return l.all()
	case "exists":
		return l.exists()
	case "exists_one", "existsOne":
		return l.existsOne()
	case "filter":
		return l.filter()
	case "map", "transformList":
		return l.transform()
	case "sortBy":
		return l.sortBy()
	}
	return l.transformMap(name == "transformMapEntry")
}

// round evaluates a part of the body for one element.
func (l *loop) round(e element, body ast.Expr) value {
	s := l.scope
	switch {
	case len(l.vars) == 2:
		s = s.with(l.vars[0], e.key).with(l.vars[1], e.val)
	case l.isMap:
		s = s.with(l.vars[0], e.key)
	default:
		s = s.with(l.vars[0], e.val)
	}
	v := l.run.eval(body, s)
	if len(v.why) == 0 && len(v.items) == 0 {
		v.why = e.place(l.list)
	}
	return v
}

// all evaluates all(). A false result depends on the elements that fail.
func (l *loop) all() value {
	var failing, passing, errs fields
	failed, erred := false, false
	for _, e := range l.elements {
		switch v := l.round(e, l.body[0]); {
		case v.is(false):
			failed, failing = true, union(failing, v.why)
		case v.is(true):
			passing = union(passing, v.why)
		default:
			erred, errs = true, union(errs, v.reads())
		}
	}
	switch {
	case failed:
		return value{val: types.False, why: failing}
	case erred:
		return value{val: types.NewErr("an element is an error"), why: errs}
	}
	return value{val: types.True, why: union(passing, l.list.why)}
}

// exists evaluates exists(). A true result depends on the elements that match. A false one depends
// on the list or, if its elements are not from the object, on the fields that they are compared
// with.
func (l *loop) exists() value {
	matching, matches, errs := l.matching()
	switch {
	case matches > 0:
		return value{val: types.True, why: matching}
	case errs != nil:
		return value{val: types.NewErr("an element is an error"), why: errs}
	}
	return value{val: types.False, why: l.missing()}
}

func (l *loop) existsOne() value {
	matching, matches, errs := l.matching()
	switch {
	case errs != nil:
		return value{val: types.NewErr("an element is an error"), why: errs}
	case matches == 0:
		return value{val: types.False, why: l.missing()}
	}
	return value{val: types.Bool(matches == 1), why: matching}
}

// matching counts the elements for which the body is true. errs is not nil if the body is an error
// for some.
func (l *loop) matching() (why fields, matches int, errs fields) {
	for _, e := range l.elements {
		switch v := l.round(e, l.body[0]); {
		case v.is(true):
			matches, why = matches+1, union(why, v.why)
		case !v.is(false):
			errs = union(errs, v.reads()).known()
		}
	}
	return why, matches, errs
}

// missing returns the fields because of which no element matches.
func (l *loop) missing() fields {
	if why := union(l.nearMisses(), l.list.growth()); len(why) > 0 {
		return why
	}
	var why fields // the fields that elements from outside the object are compared with
	for _, e := range l.elements {
		why = union(why, l.round(e, l.body[0]).why)
	}
	return why
}

// nearMisses returns the fields of elements that match a selector, such as `c.name == 'app'`, and
// fail another condition.
func (l *loop) nearMisses() fields {
	conjuncts := conjunctsOf(l.body[0])
	if len(conjuncts) < 2 {
		return nil
	}
	var why fields
	for _, e := range l.elements {
		meant := false
		var missed fields
		for _, c := range conjuncts {
			if v := l.round(e, c); v.is(false) {
				missed = union(missed, v.why)
			} else if v.is(true) && isSelector(c) {
				meant = true
			}
		}
		if meant {
			why = union(why, missed)
		}
	}
	return why
}

// filter evaluates filter(). Changing the fields of selected elements makes the list shorter.
// Changing those of other elements makes it longer, unless the condition selects elements by name.
func (l *loop) filter() value {
	var items []value
	var fewer, more fields
	for _, e := range l.elements {
		v := l.round(e, l.body[0])
		switch {
		case v.is(true):
			item := e.val
			if l.isMap {
				item = e.key
			}
			items, fewer = append(items, item), union(fewer, v.why)
		case v.is(false):
			if !selects(l.body[0]) {
				more = union(more, v.why)
			}
		default:
			return failed("an element is an error", v.reads())
		}
	}
	if selects(l.body[0]) {
		more = l.nearMisses()
	}
	if fewer == nil {
		fewer = l.list.shrinkage().known()
	}
	more = union(more, l.list.growth()).known()
	list := listOf(items, fewer)
	list.fewer, list.more = fewer, more
	if len(items) == 0 {
		list.why = more
	}
	return list
}

// transform evaluates map() and transformList(), with an optional filter as the first part.
func (l *loop) transform() value {
	var items []value
	var why fields
	for _, e := range l.elements {
		if len(l.body) == 2 {
			if v := l.round(e, l.body[0]); v.isError() {
				return v
			} else if !v.is(true) {
				continue
			}
		}
		v := l.round(e, l.body[len(l.body)-1])
		items, why = append(items, v), union(why, v.reads())
	}
	list := listOf(items, union(why, l.list.why))
	if !list.isError() {
		list.fewer, list.more = l.list.shrinkage(), l.list.growth()
	}
	return list
}

// transformMap returns a map of the rounds' values, or of their entries.
func (l *loop) transformMap(entries bool) value {
	vals, known := map[ref.Val]ref.Val{}, map[string]value{}
	why := l.list.why
	for _, e := range l.elements {
		if len(l.body) == 2 {
			if v := l.round(e, l.body[0]); v.isError() {
				return v
			} else if !v.is(true) {
				continue
			}
		}
		v := l.round(e, l.body[len(l.body)-1])
		if v.isError() {
			return v
		}
		why = union(v.reads(), why)
		made := []element{{e.key, v}}
		if entries {
			made, _, _ = v.elements(1)
		}
		for _, entry := range made {
			if isKey(entry.key.val) {
				vals[entry.key.val] = entry.val.val
			}
			if name, ok := entry.key.val.(types.String); ok {
				known[string(name)] = entry.val
			}
		}
	}
	return value{val: types.DefaultTypeAdapter.NativeToValue(vals), entries: known, why: why}
}
