package render

// Declared is what is known about the custom kinds of a root without rendering it.
type Declared struct {
	// Definitions are the custom kinds that it always defines.
	Definitions []Definition
	// May is set when it may define more, which only rendering shows.
	May bool
	// Mentions reports whether it holds the name of an API group.
	Mentions func(group string) bool
	// DependsOn are the API groups that its rendering may depend on.
	DependsOn []string
}

// declarer is a Source whose roots depend on the custom kinds of their cluster.
type declarer interface {
	Declared(root Root) Declared
}

// Declared returns what is known about the custom kinds of a root; ok is false for a root that does not depend on
// custom kinds.
func (r *Renderer) Declared(root Root) (d Declared, ok bool) {
	s, ok := r.source(root.Kind).(declarer)
	if !ok {
		return d, false
	}
	return s.Declared(root), true
}
