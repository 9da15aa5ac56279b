package policy_test

import (
	"fmt"
	"strings"
)

// celWriter writes CEL expressions by the rules of celGrammar.
type celWriter struct {
	*generator
	params, authorizer bool
	// names are the variables declared so far.
	names []string
	// locals are the variables of the enclosing comprehensions.
	locals []string
	fresh  int
}

// expression writes an expression of a kind of celGrammar. depth bounds its nesting.
func (w *celWriter) expression(kind string, depth int) string {
	if depth > 0 && kind == "bool" && w.oneIn(7) && len(w.names) > 0 {
		kind = "variable-bool"
	}
	rules := celGrammar[kind]
	if depth <= 0 {
		if leaves, ok := celLeaves[kind]; ok {
			rules = leaves
		}
	}
	for range 100 {
		if rule := pick(w.generator, rules...); w.allowed(rule) {
			return w.expand(rule, depth-1)
		}
	}
	panic("no rule for " + kind + " applies here")
}

// allowed reports whether the variables of a rule are declared here.
func (w *celWriter) allowed(rule string) bool {
	has := func(text string) bool { return strings.Contains(rule, text) }
	return (w.authorizer || !has("authorizer") && !has("{authz")) &&
		(w.params || !has("params")) &&
		(len(w.names) > 0 || !has("{variable")) &&
		(len(w.locals) > 0 || !has("{known") || has("{local}"))
}

// expand replaces the placeholders of a rule. {local} and {local2} declare new variables of a
// comprehension, {same} and {same2} refer to them.
func (w *celWriter) expand(rule string, depth int) string {
	var b strings.Builder
	outer := len(w.locals)
	defer func() { w.locals = w.locals[:outer] }()
	var names [2]string
	for {
		before, after, found := strings.Cut(rule, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, rest, _ := strings.Cut(after, "}")
		rule = rest
		switch name {
		case "local", "local2":
			local := fmt.Sprint("x", w.fresh)
			w.fresh++
			w.locals = append(w.locals, local)
			names[len(name)-len("local")] = local
			b.WriteString(local)
		case "same", "same2":
			b.WriteString(names[len(name)-len("same")])
		case "known":
			b.WriteString(pick(w.generator, w.locals...))
		case "variable":
			b.WriteString("variables." + pick(w.generator, w.names...))
		default:
			if celGrammar[name] == nil { // a map's brace
				b.WriteString("{")
				rule = after
				continue
			}
			b.WriteString(w.expression(name, depth))
		}
	}
}

// celLeaves are the rules for expressions at the maximum depth.
var celLeaves = map[string][]string{
	"bool":          {"true", "false", "has({path})", "{any} == null", "{any} != null", "object == null", "oldObject == null", "request.operation == 'CREATE'", "namespaceObject == null", "{any} == {constant}", "has({path})", "params == null", "params != null"},
	"variable-bool": {"{variable} == {constant}", "{variable} != null", "type({variable}) == string"},
	"int":           {"0", "1", "-1", "3", "9223372036854775807", "-9223372036854775807", "size({any})", "request.name.size()"},
	"text":          {"''", "'web'", "'nginx:1'", "request.name", "request.operation", "request.userInfo.username", "string({any})", "object.metadata.name + ''", "request.kind.kind", "namespaceObject.metadata.name", "request.namespace"},
	"list":          {"[]", "[1, 2, 3]", "['web', 'api', 'web']", "{any-list}", "request.userInfo.groups", "namespaceObject.metadata.finalizers"},
	"dyn-list":      {"{any-list}", "dyn([1, 'x', null])"},
	"map":           {"{'a': 1}", "{any-map}", "namespaceObject.metadata.labels", "request.userInfo.extra"},
	"optional":      {"object.?metadata.?labels", "optional.none()", "{opt-path}"},
	"quantity":      {"quantity('1Gi')", "quantity('0.5')"},
}

// celGrammar has the rules of each kind of expression.
var celGrammar = map[string][]string{
	"bool": {
		"({bool}) && ({bool})", "({bool}) || ({bool})", "({bool}) && ({bool})", "({bool}) || ({bool})", "!({bool})", "({bool}) ? ({bool}) : ({bool})",
		"{int} {compare} {int}", "{any} {compare} {int}", "{any} {compare} {any}", "{text} {equal} {text}", "{any} {equal} {constant}", "{any} {equal} {constant}",
		"has({path})", "has({path}) && {any} {equal} {constant}", "!has({path}) || {any} {compare} {constant}",
		"{list}.all({local}, {bool})", "{list}.exists({local}, {bool})", "{list}.exists_one({local}, {bool})",
		"{dyn-list}.all({local}, {known-bool})", "{dyn-list}.exists({local}, {known-bool})", "{any-list}.filter({local}, {known-bool}).size() {compare} {int}",
		"{map}.all({local}, {bool})", "{map}.exists({local}, {same} == 'app')", "{any-map}.all({local}, {local2}, {same2} != '' && {bool})", "{list}.exists({local}, {local2}, {same} == {int} && {bool})",
		"{list}.existsOne({local}, {local2}, {bool})", "{any-list}.all({local}, {local2}, {same} >= 0 && {known-bool})",
		"'app' in {map}", "{text} in {any}", "{any} in {dyn-list}", "{any} in ['web', 'nginx', 'a']",
		"{text}.startsWith({text})", "{text}.endsWith('x')", "{text}.contains({text})", "{text}.matches('^[a-z]+$')", "{text}.matches({text})", "{any}.matches('we.')", "{any}.startsWith('registry.example.com/')",
		"{optional}.hasValue()", "{optional}.orValue({any}) == {any}", "{opt-path}.orValue('none') == 'none'",
		"sets.contains({any-list}, ['web'])", "sets.intersects(['web', 'a'], {any-list})", "sets.equivalent({list}, {list})",
		"quantity({text}).isGreaterThan({quantity})", "isQuantity({any})", "{quantity}.isLessThan(quantity({any}))", "{quantity}.compareTo({quantity}) == {int}", "{quantity}.isInteger()",
		"ip({any}).family() == 4", "isIP({text})", "cidr('10.0.0.0/8').containsIP({any})", "isCIDR({any})", "cidr({any}).prefixLength() {compare} {int}", "ip('::1').isLoopback()", "cidr({any}).masked() == cidr('10.0.0.0/8')",
		"isURL({any})", "url({any}).getHostname() == {text}", "url({any}).getQuery()['c'] == ['d']", "url({any}).getScheme().size() {compare} {int}",
		"semver({any}).isGreaterThan(semver('1.0.0'))", "isSemver({any})", "semver({text}, true).major() {compare} {int}",
		"{list}.isSorted()", "{any-list}.sum() == {int}", "{any-list}.indexOf('web') {compare} {int}", "{list}.size() {compare} {int}",
		"format.named('dns1123Label').value().validate({text}).hasValue()", "!format.dns1123Subdomain().validate({any}).hasValue()", "format.named({text}).hasValue()",
		"timestamp({any}).getFullYear() {compare} {int}", "duration({text}) {compare} duration('1h')", "timestamp(object.metadata.creationTimestamp) {compare} timestamp('2025-01-01T00:00:00Z')",
		"type({any}) == string", "type({any}) == type({any})", "type({any}) == map", "bool({any})",
		"1 / {int} {compare} {int}", "{int} % {int} == 1", "[1, 2][{int}] == 2", "{any-list}[{int}] == {constant}", "{any-map}[{text}] == {constant}", "{any-list}[?{int}].hasValue()", "{any-map}[?'app'] == optional.of('web')",
		"{known-bool}", "{variable-bool}", "{authz}", "{authz}", "object == oldObject", "{costly}",
		"dyn({constant}) == {any}", "{any-map} == {any-map}", "optional.of({any}).optMap({local}, {same} == {constant}).orValue(false)", "{opt-path}.optMap({local}, {known-bool}).orValue({bool})",
		"{map}.transformList({local}, {local2}, {same}).size() {compare} {int}", "{any-map}.transformMap({local}, {local2}, string({same2}) + 'x').size() > 0", "{list}.transformMapEntry({local}, {local2}, {{same2}: {same}}).size() == {int}",
		"string({any}).lowerAscii() == {text}", "b'abc' == bytes({text})", "double({any}) {compare} 1.5", "uint({any}) == 1u", "int({any}) {compare} {int}",
	},
	"known-bool":    {"{known} == {constant}", "{known}.name == {constant}", "{known}.image.contains(':')", "has({known}.resources) && has({known}.resources.limits)", "has({known}.name)", "{known} != null && {bool}", "{known}.size() {compare} {int}", "type({known}) == string", "has({known}.securityContext.runAsNonRoot)", "{known}.?name.orValue('') == {text}", "{known} in {list}", "({known} > 1) || {bool}"},
	"variable-bool": {"{variable} == {constant}", "{variable} {compare} {int}", "{variable} != null", "type({variable}) == string", "dyn({variable}) == {any}", "dyn({variable}) == true || {bool}", "dyn({variable}).size() {compare} {int}", "!(dyn({variable}) == {variable})", "dyn({variable}).all({local}, {known-bool})"},
	"compare":       {"==", "!=", "<", "<=", ">", ">="},
	"equal":         {"==", "!="},
	"constant":      {"'web'", "'registry.example.com/web:1.2'", "1", "3", "null", "true", "'prod'", "1.5", "'512Mi'", "-1", "''", "'x'"},
	"int": {
		"{int} + {int}", "{int} * {int}", "{int} - {int}", "{int} / {int}", "{int} % {int}", "-({int})", "{list}.size()", "{text}.size()", "int({any})", "size({map})", "({bool}) ? {int} : {int}",
		"9223372036854775807 + {int}", "{text}.indexOf('e')", "{any-list}.map({local}, {int}).sum()", "url({any}).getEscapedPath().size()", "{quantity}.asInteger()", "dyn({any}) + 1", "dyn({variable}) + 1", "dyn(authorizer) == null ? 1 : 0", "lists.range({small}).size()",
	},
	"small": {"0", "3", "7"},
	"text": {
		"{text} + {text}", "{text}.replace('e', {text})", "{text}.upperAscii()", "{text}.substring({int})", "{text}.charAt(0)", "{text}.trim()", "'%s has %d of %s'.format([{any}, {int}, {text}])", "'%x %e'.format([{any}, 1.5])",
		"['a', {text}].join(',')", "{any-list}.map({local}, string({same})).join(' ')", "({bool}) ? {text} : {text}", "string({int})", "{opt-path}.orValue('nothing') + '!'", "{text}.split('e').join('-')", "{text}.find('[a-z]+')", "string({any})", "string({bool})",
		"dyn({variable}) + ''", "strings.quote({text})", "url({any}).getHost()", "string(ip({any}))", "authorizer.requestResource.check('get').reason()",
	},
	"list":      {"{list} + {list}", "{any-list}.map({local}, {any})", "{any-list}.filter({local}, {known-bool})", "{text}.split(',')", "{text}.findAll('[a-z]')", "{list}.sort()", "{list}.distinct()", "{list}.slice(0, {small})", "lists.range({small})", "[{int}, {int}]", "['a', {text}]", "{map}.map({local}, {same})", "[dyn({any}), dyn({constant})]", "{any-list}.flatten()", "[[1], [2, 3]].flatten()", "{list}.reverse()", "{any-list}.sortBy({local}, {known-key})"},
	"dyn-list":  {"{any-list}", "{any-list} + {any-list}", "dyn({list})", "[dyn({any}), {constant}]", "{any-list}.filter({local}, {known-bool})"},
	"known-key": {"{known}.name", "{known}.size()", "string({known})"},
	"map":       {"{any-map}", "{'a': {int}, 'b': 2}", "{'app': {text}}", "{{text}: {text}}", "{?'a': {opt-path}, ?'b': optional.none()}", "dyn({any-map})", "namespaceObject.metadata.annotations"},
	"optional":  {"{opt-path}", "optional.of({any})", "optional.ofNonZeroValue({any})", "{opt-path}.or({opt-path})", "{any-map}[?{text}]", "{any-list}[?{int}]", "{list}.first()", "{any-list}.last()", "{opt-path}.optMap({local}, {same})", "{opt-path}.optFlatMap({local}, {same}.?name)"},
	"quantity":  {"quantity('1Gi')", "quantity('500m')", "quantity({any})", "{quantity}.add({quantity})", "{quantity}.sub(1)", "quantity({text})"},

	// Variables and paths. Objects are untyped: a path may lead to anything or nowhere.
	"root":     {"object", "object", "object", "object", "oldObject", "oldObject", "params", "params"},
	"any":      {"{root}.{field}", "{root}.{field}", "{root}.{field}", "{any-list}[0]", "{any-list}[{small}].name", "{any-map}['app']", "{any-map}.app", "{known}", "{known}.name", "request.options", "request.dryRun", "request.{request-field}", "namespaceObject.{namespace-field}", "dyn({variable})", "dyn({variable}).size()", "{opt-path}.orValue(null)", "{opt-path}.value()", "object", "dyn({constant})"},
	"path":     {"{root}.{field}", "{root}.{field}", "{root}.spec.{spec-field}", "request.{request-field}", "namespaceObject.{namespace-field}", "{root}.metadata.labels.app", "{root}.spec", "{root}.metadata.labels", "request.userInfo.extra.scopes"},
	"opt-path": {"{root}.?metadata.?labels[?'app']", "{root}.?spec.?replicas", "{root}.?spec.{spec-field}", "{root}[?'data'][?'max']", "{root}.?spec.?template.?spec.?containers[?0].?image", "{known}.?name", "dyn({variable}).?name", "{root}.?nothing", "{root}.metadata.?annotations"},
	"any-list": {"object.spec.template.spec.containers", "object.spec.containers", "{root}.spec.parts", "{root}.spec.?parts.orValue([])", "params.names", "object.spec.ports", "oldObject.spec.template.spec.containers", "object.spec.?template.?spec.?containers.orValue(dyn([]))", "object.rules", "object.spec.rules[0].http.paths", "{root}.names", "dyn({variable})"},
	"any-map":  {"{root}.metadata.labels", "object.metadata.labels", "{root}.data", "params.data", "object.spec.selector.matchLabels", "{root}.metadata.annotations", "{root}.?metadata.?labels.orValue({})", "object.spec.tags", "object.spec.extra", "object", "object.metadata", "namespaceObject.metadata.labels", "request.userInfo.extra", "dyn(namespaceObject.metadata.labels)", "object.stringData"},
	"field": {
		"metadata.name", "metadata.namespace", "metadata.labels.app", "metadata.labels['tier']", "metadata.generateName", "metadata.generation", "metadata.annotations.owner", "kind", "apiVersion", "spec", "status", "data.max", "data['host']", "data.url", "data.size", "data.version", "data.cidr", "data.quantity", "data.names", "data.pattern", "max", "names", "image", "ratio", "mode",
		"spec.{spec-field}", "spec.{spec-field}", "spec.{spec-field}", "spec.template.spec.containers[0].{container-field}", "spec.containers[0].{container-field}", "spec.template.metadata.labels.app", "status.phase", "status.replicas", "metadata.creationTimestamp", "metadata.uid", "metadata.resourceVersion", "type", "rules[0].verbs", "value", "data.?max.orValue('0')",
	},
	"spec-field":      {"replicas", "replicas", "selector", "nothing", "containers", "template", "color", "ratio", "parts", "extra", "extra.any", "mode", "maxReplicas", "minReplicas", "targetCPUUtilizationPercentage", "metrics", "schedule", "type", "restartPolicy", "serviceName", "suspend", "minAvailable", "hostNetwork", "resources.requests.storage", "clusterIP", "podSelector"},
	"container-field": {"image", "name", "imagePullPolicy", "resources", "resources.limits.memory", "resources.requests.cpu", "securityContext.privileged", "securityContext", "ports", "env", "terminationMessagePath", "command"},
	"request-field":   {"name", "namespace", "operation", "subResource", "requestSubResource", "kind", "kind.group", "kind.version", "requestKind.version", "resource.resource", "resource.version", "requestResource.group", "userInfo.username", "userInfo.uid", "userInfo.groups", "userInfo.extra", "dryRun", "options", "uid"},
	"namespace-field": {"metadata.name", "metadata.labels", "metadata.labels.env", "metadata.labels['team']", "metadata.annotations.owner", "metadata.creationTimestamp", "metadata.generation", "spec.finalizers", "status.phase", "metadata.uid", "metadata.resourceVersion"},

	"authz":        {"{authz-check}.allowed()", "{authz-check}.errored()", "{authz-check}.error() == {text}", "{authz-check}.reason() == {text}", "{authz-check}.allowed() || {authz-check}.errored()"},
	"authz-check":  {"authorizer.requestResource.check({verb})", "authorizer.path('/metrics').check('get')", "authorizer.path({text}).check('get')", "{authz-who}.group({group}).resource({resource}).check({verb})", "{authz-who}.group('').resource('pods').namespace({namespace}).check({verb})", "{authz-who}.group('').resource('secrets').namespace('shop').name({text}).check('get')", "{authz-who}.group('example.com').resource('widgets').subresource('scale').namespace('shop').check('paint')", "authorizer.group('').resource('pods').fieldSelector('spec.nodeName=x').namespace({namespace}).check('list')", "authorizer.group('').resource('pods').labelSelector('app in (').namespace('shop').check('list')", "authorizer.group('').resource('pods').labelSelector({text}).check('list')"},
	"authz-who":    {"authorizer", "authorizer", "authorizer.serviceAccount('shop', 'robot')", "authorizer.serviceAccount({namespace}, {text})"},
	"group":        {"''", "'apps'", "'example.com'", "request.resource.group"},
	"resource":     {"'pods'", "'deployments'", "'nodes'", "request.resource.resource"},
	"verb":         {"'get'", "'create'", "'list'", "'delete'", "'paint'", "''"},
	"namespace":    {"'shop'", "'test'", "request.namespace", "object.metadata.namespace", "''"},
	"costly":       {"object.data.big.contains(object.data.big)", "{big} && {big}", "{big} && {big} && {big} && {big} && {big} && {big} && {big} && {big} && {big} && {big} && {big} && {big}", "{big}"},
	"big":          {"object.data.big.contains(object.data.big + '')", "(object.data.big + object.data.big).contains(object.data.big)", "object.data.big.matches('^' + object.data.big)", "lists.range(100).all({local}, object.data.big.contains('x') == false)", "lists.range(40).all({local}, lists.range(40).all({local2}, {same2} < 100))"},
	"message-text": {"{text}", "{text}", "'  ' + {text} + '  '", "object.data.big", "{text} + '\\n' + {text}", "''", "'fixed'", "'object ' + object.metadata.name", "string(params.data.max)", "object.data.big + object.data.big + object.data.big"},
	"note-text":    {"{text}", "{text}", "''", "'  '", "object.data.big + object.data.big", "'%s'.format([{any}])", "request.name", "string(oldObject.metadata.name)"},
}
