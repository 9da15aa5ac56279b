package cel

import (
	"reflect"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/containers"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Watching is an activation that receives the values of the parts of its expressions.
type Watching interface {
	interpreter.Activation
	// Watched receives the value of a part of the expression when it is evaluated, after those of its
	// own parts. vars is the activation of the part.
	Watched(vars interpreter.Activation, part int64, value ref.Val)
}

// WatchedEnvironment returns an environment whose programs report the values of their parts to the
// activation. Their cost differs from that of the environment's own programs.
func WatchedEnvironment(of func() (*environment.EnvSet, error)) (*environment.EnvSet, error) {
	set, err := of()
	if err != nil {
		return nil, err
	}
	return set.Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		ProgramOptions:    []celgo.ProgramOption{celgo.CustomDecorator(watched)},
	})
}

// watched returns an instruction that reports its value. A loop is unchanged, since cel-go ends it
// with its context; its value is that of its last part.
func watched(i interpreter.Interpretable) (interpreter.Interpretable, error) {
	switch i := i.(type) {
	case *watchedAttribute:
		return i, nil
	case interpreter.InterpretableAttribute:
		return &watchedAttribute{i}, nil
	case interpreter.InterpretableConst:
		if _, ok := i.Value().(types.Bool); ok { // the iterations of some loops begin with one
			return watchedPart{i}, nil
		}
		return i, nil
	case interpreter.InterpretableCall, interpreter.InterpretableConstructor:
		return watchedPart{i}, nil
	}
	if isLoop(i) {
		return i, nil
	}
	return watchedPart{i}, nil
}

// isLoop reports whether an instruction is a comprehension. cel-go does not export their type.
func isLoop(i interpreter.Interpretable) bool {
	return reflect.TypeOf(i).String() == "*interpreter.evalFold"
}

// watchedPart is any instruction of which cel-go only needs the value.
type watchedPart struct{ interpreter.Interpretable }

// Eval implements interpreter.Interpretable.
func (w watchedPart) Eval(vars interpreter.Activation) ref.Val {
	v := w.Interpretable.Eval(vars)
	report(vars, w.ID(), v)
	return v
}

// watchedAttribute is a variable with selected fields and elements.
type watchedAttribute struct {
	interpreter.InterpretableAttribute
}

// Eval implements interpreter.Interpretable.
func (w *watchedAttribute) Eval(vars interpreter.Activation) ref.Val {
	v := w.InterpretableAttribute.Eval(vars)
	report(vars, w.ID(), v)
	return v
}

// Resolve implements interpreter.InterpretableAttribute.
func (w *watchedAttribute) Resolve(vars interpreter.Activation) (any, error) {
	v, err := w.InterpretableAttribute.Resolve(vars)
	if err != nil {
		report(vars, w.ID(), types.WrapErr(err))
	} else {
		report(vars, w.ID(), w.Adapter().NativeToValue(v))
	}
	return v, err
}

// Qualify implements interpreter.InterpretableAttribute: the attribute is an index.
func (w *watchedAttribute) Qualify(vars interpreter.Activation, obj any) (any, error) {
	q, err := w.qualifier(vars)
	if err != nil {
		return nil, err
	}
	return q.Qualify(vars, obj)
}

// QualifyIfPresent implements interpreter.InterpretableAttribute.
func (w *watchedAttribute) QualifyIfPresent(vars interpreter.Activation, obj any, presenceOnly bool) (any, bool, error) {
	q, err := w.qualifier(vars)
	if err != nil {
		return nil, false, err
	}
	return q.QualifyIfPresent(vars, obj, presenceOnly)
}

// qualifier returns the qualifier for the value of the attribute.
func (w *watchedAttribute) qualifier(vars interpreter.Activation) (interpreter.Qualifier, error) {
	v, err := w.Resolve(vars)
	if err != nil {
		return nil, err
	}
	factory := interpreter.NewAttributeFactory(containers.DefaultContainer, w.Adapter(), nil)
	return factory.NewQualifier(nil, w.ID(), v, w.IsOptional())
}

// report passes a value to the activation that watches, if any does.
func report(vars interpreter.Activation, part int64, v ref.Val) {
	for at := vars; at != nil; at = at.Parent() {
		if w, ok := at.(Watching); ok {
			w.Watched(vars, part, v)
			return
		}
	}
}
