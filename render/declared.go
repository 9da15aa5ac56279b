package render

// Declared is what a root is known to define, and to ask for, without rendering it.
type Declared struct {
	// Definitions are the custom kinds that it defines in any case.
	Definitions []Definition
	// May is set when it may define others, which is known when it is rendered.
	May bool
	// Mentions reports whether it holds the name of an API group.
	Mentions func(group string) bool
	// Asks are the API groups that what it renders to may depend on.
	Asks []string
}

// declarer is a Source whose roots depend on the custom kinds of their cluster.
type declarer interface {
	Declared(root Root) Declared
}

// Declared returns what a root is known to define; ok is false for a root that depends on no
// custom kinds.
func (r *Renderer) Declared(root Root) (d Declared, ok bool) {
	s, ok := r.source(root.Kind).(declarer)
	if !ok {
		return d, false
	}
	return s.Declared(root), true
}
