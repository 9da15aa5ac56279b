// Package engine executes the templates of Helm charts. Its output is that of Helm's own engine, byte for
// byte, and it records for each byte which part of which template wrote it.
//
// templates.go decides which templates are executed, in which order and with which values: those of the chart
// and its dependencies, but of a library chart only its helpers (files whose name begins with _).
//
// Helm's engine is text/template with the functions of sprig and a few more, and so is this
// one. It differs in three ways.
//
// It is traced (instrument.go, trace.go). An action is inserted before each part of a template: it writes
// nothing and reports the length of the output to the tracer; an action that writes gets a function at its end
// that does the same. Text from `include` or `tpl` is followed into the template that wrote it (place.go): the
// functions that callers usually apply to it, such as `nindent` and `trim`, keep its lines.
//
// It is bounded (limits.go, cost.go): depth, steps, the work of functions and the size of the output. A
// template that calls itself by `tpl` kills a process that runs Helm, since a Go program cannot recover from a
// stack overflow; so does printing a map that contains itself.
//
// It is deterministic (chance.go). Clock, random strings, keys, certificates and objects looked up in a
// cluster come from a seed, so that equal input gives equal output. Calls of such functions are reported.
// Rendering again with another Variant shows what depends on them: everything that differs is unknown, however
// it was hashed or cut.
//
// It reports whether the version of Kubernetes was read (kubeversion.go): if not, a chart's output is the same
// for all versions.
package engine
