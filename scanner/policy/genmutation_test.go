package policy_test

import (
	"fmt"
	"maps"
	"slices"

	"github.com/preadmit/preadmit/scanner/admission"
)

func init() { maps.Copy(celGrammar, mutationGrammar) }

// mutationGrammar has the rules of mutations. A value is never a list of Object, for which the API
// server panics.
var mutationGrammar = map[string][]string{
	"apply": {
		"Object{metadata: Object.metadata{labels: {{key}: {text}}}}", "Object{metadata: Object.metadata{annotations: {'seen': {text}, {key}: {text}}}}",
		"Object{metadata: Object.metadata{annotations: {'n': object.?metadata.?annotations[?'n'].orValue('') + 'i'}}}",
		"Object{metadata: Object.metadata{labels: {any-map}}}", "Object{metadata: Object.metadata{finalizers: ['example.com/a']}}",
		"Object{metadata: Object.metadata{?name: {opt-path}}}", "Object{?metadata: optional.none()}", "Object{}",
		"Object{spec: Object.spec{replicas: {int}}}", "Object{spec: Object.spec{replicas: {any}}}", "Object{spec: Object.spec{?replicas: {opt-path}}}",
		"Object{spec: Object.spec{{spec-name}: {value}}}", "Object{spec: Object.spec{nothing: {any}}}", "Object{spec: {any}}",
		"Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: object.spec.template.spec.containers.map({local}, Object.spec.template.spec.containers{name: {same}.name, imagePullPolicy: {pull}})}}}}",
		"Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{name: {text}, image: {text}}]}}}}",
		"Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{tolerations: [Object.spec.template.spec.tolerations{key: 'a'}], hostNetwork: {bool}}}}}",
		"Object{spec: Object.spec{containers: [Object.spec.containers{name: 'side', image: {text}, env: [Object.spec.containers.env{name: 'A', value: {text}}]}], nodeSelector: {'disk': {text}}}}",
		"Object{spec: Object.spec{initContainers: [Object.spec.initContainers{name: 'init', image: 'x', args: ['a']}]}}",
		"Object{spec: Object.spec{parts: [Object.spec.parts{name: 'a', size: {int}}], extra: {'any': {any}}, tags: {{key}: {text}}}}",
		"Object{spec: Object.spec{ports: [Object.spec.ports{port: {int}}]}}", "Object{spec: Object.spec.wrong{replicas: 1}}",
		"Object{data: {{key}: {text}}}", "Object{data: {any-map}}", "Object{stringData: {'k': {text}}}", "Object{kind: {text}}", "Object{status: Object.status{phase: {text}}}",
		"({bool}) ? {apply} : {apply}", "({bool}) ? {apply} : Object{}", "Object{spec: Object.spec{replicas: dyn({variable})}}",
	},
	"patch": {
		"[{operation}]", "[{operation}]", "[{operation}, {operation}]", "[{operation}, {operation}, {operation}]", "{patch} + {patch}", "({bool}) ? {patch} : []", "[]",
		"{map}.map({local}, JSONPatch{op: 'add', path: '/metadata/annotations/' + jsonpatch.escapeKey(string({same})), value: 'x'})",
		"has(object.metadata.labels) ? {patch} : [JSONPatch{op: 'add', path: '/metadata/labels', value: {value}}]",
	},
	"operation": {
		"JSONPatch{op: 'add', path: {pointer}, value: {value}}", "JSONPatch{op: 'add', path: {pointer}, value: {value}}", "JSONPatch{op: 'replace', path: {pointer}, value: {value}}",
		"JSONPatch{op: 'remove', path: {pointer}}", "JSONPatch{op: 'test', path: {pointer}, value: {value}}", "JSONPatch{op: 'copy', from: {pointer}, path: {pointer}}",
		"JSONPatch{op: 'move', from: {pointer}, path: {pointer}}", "JSONPatch{op: {text}, path: {pointer}}", "JSONPatch{op: 'add', path: {pointer}}", "JSONPatch{op: 'add', path: {text}, value: {value}}",
	},
	"pointer": {
		"'/metadata/labels/app'", "'/metadata/labels/app'", "'/metadata/labels'", "'/metadata/annotations'", "'/metadata/annotations/owner'", "'/metadata/name'", "'/spec/replicas'", "'/spec/replicas'",
		"'/spec/template/spec/containers/0/image'", "'/spec/template/spec/containers/-'", "'/spec/containers/0'", "'/spec/containers/7/image'", "'/spec/parts/-'", "'/spec/parts/0/size'", "'/spec/extra/any/0'", "'/spec/nothing'",
		"'/data/max'", "'/data/' + jsonpatch.escapeKey({text})", "'/data'", "'/spec'", "'/status'", "''", "'/'", "'spec/replicas'", "'/spec/minReplicas'", "'/spec/maxReplicas'", "'/metadata/finalizers'", "'/metadata/labels/' + {text}",
	},
	"value": {
		"{text}", "{text}", "{int}", "{bool}", "{any}", "{constant}", "{any-map}", "{'a': {text}}", "{any-list}", "[{int}, 2]", "['a', {text}]", "null", "{}", "[]",
		"Object.spec{replicas: {int}}", "Object.spec.parts{name: {text}}", "{'name': {text}, 'image': 'x'}", "{known}",
	},
	// These are valid for most objects and only read fields that exist.
	"plain-apply": {
		"Object{metadata: Object.metadata{labels: {'app': {plain}}}}", "Object{metadata: Object.metadata{labels: {'tier': {plain}, 'app': {plain}}}}",
		"Object{metadata: Object.metadata{annotations: {'seen': object.?metadata.?annotations[?'seen'].orValue('') + {plain}}}}",
		"Object{metadata: Object.metadata{annotations: {'example.com/by': {plain}, 'n': string(object.?metadata.?labels.orValue({}).size())}}}",
		"has(object.spec) && has(object.spec.replicas) ? Object{spec: Object.spec{replicas: object.spec.replicas + 1}} : Object{}",
		"has(object.spec) && has(object.spec.template) ? Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: object.spec.template.spec.containers.map({local}, Object.spec.template.spec.containers{name: {same}.name, imagePullPolicy: 'Always', env: [Object.spec.template.spec.containers.env{name: 'A', value: {plain}}]})}}}} : Object{}",
		"object.kind == 'Pod' ? Object{spec: Object.spec{terminationGracePeriodSeconds: 5, containers: [Object.spec.containers{name: 'side', image: {plain}}]}} : Object{}",
		"object.kind == 'Widget' ? Object{spec: Object.spec{color: {plain}, tags: {'t': {plain}}}} : Object{}",
		"object.kind == 'ConfigMap' ? Object{data: {'k': {plain}, 'max': object.?data.?max.orValue('0') + '1'}} : Object{metadata: Object.metadata{labels: {'not': 'map'}}}",
		"object.kind == 'Service' ? Object{spec: Object.spec{sessionAffinity: 'ClientIP', selector: {'app': {plain}}}} : Object{}",
		"oldObject == null ? {plain-apply} : {plain-apply}",
	},
	"plain-patch": {
		"[JSONPatch{op: 'add', path: '/metadata/labels', value: {'app': {plain}}}]", "[JSONPatch{op: 'add', path: '/metadata/annotations', value: {'a': {plain}, 'b': {plain}}}]",
		"has(object.metadata.labels) ? [JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('example.com/a~b'), value: {plain}}, JSONPatch{op: 'add', path: '/metadata/labels/app', value: {plain}}] : []",
		"has(object.metadata.annotations) ? [JSONPatch{op: 'add', path: '/metadata/annotations/n', value: object.metadata.?annotations[?'n'].orValue('') + 'i'}] : []",
		"has(object.spec) && has(object.spec.replicas) ? [JSONPatch{op: 'test', path: '/spec/replicas', value: 3}, JSONPatch{op: 'replace', path: '/spec/replicas', value: {small}}] : []",
		"has(object.spec) && has(object.spec.template) ? [JSONPatch{op: 'add', path: '/spec/template/spec/containers/-', value: {'name': 'side', 'image': {plain}}}] : []",
		"has(object.spec) && has(object.spec.containers) ? [JSONPatch{op: 'add', path: '/spec/containers/0', value: Object.spec.containers{name: 'side', image: {plain}}}] : []",
		"has(object.spec) && has(object.spec.parts) ? [JSONPatch{op: 'add', path: '/spec/parts/0', value: Object.spec.parts{name: {plain}, size: {small}}}, JSONPatch{op: 'copy', from: '/spec/parts/0', path: '/spec/parts/1'}] : []",
		"has(object.data) ? [JSONPatch{op: 'copy', from: '/data', path: '/data'}, JSONPatch{op: 'add', path: '/data/k', value: {plain}}, JSONPatch{op: 'move', from: '/data/k', path: '/data/l'}] : []",
		"{plain-patch} + {plain-patch}", "[JSONPatch{op: 'replace', path: '/metadata/name', value: object.metadata.name}]",
	},
	"plain":     {"'web'", "request.operation", "request.kind.kind", "'a-b.c'", "'nginx'", "string(request.dryRun)", "request.resource.resource"},
	"key":       {"'app'", "'tier'", "'example.com/a'", "{text}", "'not a key'"},
	"spec-name": {"replicas", "minReplicas", "maxReplicas", "schedule", "suspend", "serviceName", "paused", "color", "ratio", "hostNetwork", "type", "clusterIP", "selector", "strategy", "nodeName"},
	"pull":      {"'Always'", "'IfNotPresent'", "'Sometimes'", "{text}"},
}

// mutations returns mutating policies and their bindings.
func (g *generator) mutations() []*admission.Object {
	var all []*admission.Object
	for i := range 1 + g.IntN(3) {
		all = append(all, g.mutation(fmt.Sprintf("m%d.example.com", i))...)
	}
	return all
}

// mutation returns a mutating policy and its bindings.
func (g *generator) mutation(name string) []*admission.Object {
	spec := map[string]any{"matchConstraints": g.mutable(g.match(true)), "reinvocationPolicy": pick(g, "Never", "Never", "IfNeeded")}
	w := &celWriter{generator: g, authorizer: true}
	kind := pick(g, "", "", "", "", "", "", "ConfigMap", "ConfigMap", "Limit")
	if g.oneIn(15) {
		kind = pick(g, "Quota", "Missing")
	}
	if kind != "" {
		w.params = true
		spec["paramKind"] = map[string]any{"apiVersion": paramVersion(g, kind), "kind": kind}
	}
	if g.oneIn(2) {
		spec["failurePolicy"] = pick(g, "Fail", "Ignore", "Ignore")
	}
	g.put(spec, "matchConditions", g.listOf(pick(g, 0, 0, 2), func(i int) any {
		return map[string]any{"name": fmt.Sprint("c", i), "expression": w.expression("bool", 1+g.IntN(2))}
	}))
	g.declare(spec, w)
	mutations := []any{g.patch(w)}
	for g.oneIn(3) {
		mutations = append(mutations, g.patch(w))
	}
	spec["mutations"] = mutations
	all := []*admission.Object{registration("MutatingAdmissionPolicy", name, spec)}
	for i := range 1 + g.IntN(2) {
		b := g.binding(fmt.Sprint("b", i, "-", name), name, kind).Content()["spec"].(map[string]any)
		delete(b, "validationActions")
		if m, ok := b["matchResources"].(map[string]any); ok {
			b["matchResources"] = g.mutable(m)
		}
		all = append(all, registration("MutatingAdmissionPolicyBinding", fmt.Sprint("b", i, "-", name), b))
	}
	return all
}

// patch returns a mutation.
func (g *generator) patch(w *celWriter) any {
	kind, depth := "", 1+g.IntN(3)
	if g.oneIn(2) {
		kind, depth = "plain-", 3
	}
	if g.oneIn(2) {
		return map[string]any{"patchType": "JSONPatch", "jsonPatch": map[string]any{"expression": w.expression(kind+"patch", depth)}}
	}
	return map[string]any{"patchType": "ApplyConfiguration", "applyConfiguration": map[string]any{"expression": w.expression(kind+"apply", depth)}}
}

// mutable replaces the operations of rules that mutations cannot have.
func (g *generator) mutable(match map[string]any) map[string]any {
	for _, field := range []string{"resourceRules", "excludeResourceRules"} {
		rules, _ := match[field].([]any)
		for _, r := range rules {
			r := r.(map[string]any)
			if operations, _ := r["operations"].([]any); slices.Contains(operations, any("DELETE")) {
				r["operations"] = pick(g, []any{"CREATE", "UPDATE"}, []any{"UPDATE"})
			}
		}
	}
	return match
}
