// Package engine executes the templates of Helm charts: what Helm's own engine makes of a
// chart and values, byte for byte, and of each byte which part of which template wrote it.
//
// Which templates are executed, in which order and with which values, is in templates.go: those of the
// chart and its dependencies, but of a chart of the type library only its helpers (files whose name
// begins with _).
//
// Helm's engine is text/template with the functions of sprig and a few more, and so is this
// one. It differs in three ways.
//
// It is traced (instrument.go, trace.go). Before each part of a template an action is put
// that writes nothing and reports to the tracer where the output stands; an action that writes
// ends in a function that does the same. Text that came by way of `include` or `tpl` is
// followed into the template that wrote it (place.go): what callers do to it
// afterwards, `nindent` and `trim` above all, keeps its lines.
//
// It is bounded (limits.go, cost.go): depth, steps, the work of functions and the size of the
// output. A template that calls itself by `tpl` ends a process that runs Helm, since a stack
// overflow cannot be recovered from; a map that holds itself does so when it is printed.
//
// It is deterministic (chance.go). Clock, random strings, keys, certificates and what is looked up
// in a cluster come from a seed, so that equal input gives equal output. That such a function was
// called is reported. Rendering again with another Variant shows what depends on it: whatever
// differs is unknown, however it was hashed or cut on the way.
//
// It reports whether the version of Kubernetes was read (kubeversion.go), so that what a chart makes for one
// version may be known to be what it makes for another.
package engine
