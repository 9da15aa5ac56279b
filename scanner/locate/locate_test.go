package locate_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/preadmit/preadmit/scanner/locate"
	"sigs.k8s.io/yaml"
)

// shop is the object most rows are about.
const shop = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  labels: {app: web, tier: gold, app.kubernetes.io/part-of: shop}
  annotations: {example.com/contact: nobody}
data: {LOG_LEVEL: loud, mode: fast, "1": one, "odd]key": x}
spec:
  replicas: 12
  paused: false
  ports: [80, 22, 443]
  strategy: {type: Recreate}
  empty: []
  maxSurge: 25%
  template:
    spec:
      securityContext: {}
      containers:
      - {name: app, image: "registry.example.com/app:v1", ports: [{containerPort: 80}], resources: {limits: {memory: 1Gi}}}
      - {name: side, image: "docker.io/side:latest", args: [serve, --debug], securityContext: {privileged: true}}
      - {name: log, image: "docker.io/log:v2", resources: {limits: {cpu: "1"}}}
      initContainers:
      - {name: init, image: "registry.example.com/init:v1", securityContext: {runAsUser: 0}}
      volumes:
      - {name: data, emptyDir: {}}
      - {name: host, hostPath: {path: /etc}}
`

const old = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, labels: {app: web, tier: silver}}
spec: {replicas: 2}
`

var variables = map[string]string{
	"containers": "object.spec.template.spec.containers",
	"all":        "variables.containers + object.spec.template.spec.?initContainers.orValue([])",
	"foreign":    "variables.all.filter(c, !c.image.startsWith('registry.example.com/'))",
	"max":        "params.max",
	"images":     "variables.all.map(c, c.image)",
	"loop":       "variables.loop",
	"a":          "variables.b", "b": "variables.a",
	"known": "['fast', 'slow']",
	"info":  "{'replicas': object.spec.replicas, 'name': object.metadata.name}",
}

// TestFields checks the paths that expressions return, the most relevant first, separated by
// spaces.
func TestFields(t *testing.T) {
	tests := []struct{ expression, want string }{
		// Comparisons.
		{"object.spec.replicas <= 10", "spec.replicas"},
		{"object.spec.replicas <= params.max", "spec.replicas"},
		{"object.spec.replicas % 5 == 1", "spec.replicas"},
		{"object.spec.strategy.type == 'RollingUpdate'", "spec.strategy.type"},
		{"object.spec.replicas <= oldObject.spec.replicas", "spec.replicas"},
		{"object.metadata.labels.tier == oldObject.metadata.labels.tier", "metadata.labels.tier"},
		{"object.spec.ports == [80]", "spec.ports"},
		{"object.spec.ports.size() <= 2", "spec.ports"},
		{"size(object.spec.ports) <= 2", "spec.ports"},
		{"int(object.spec.maxSurge.replace('%', '')) <= 20", "spec.maxSurge"},
		{"object.metadata.name.matches('^dev-')", "metadata.name"},
		{"object.spec.replicas < object.spec.ports.size()", "spec.replicas spec.ports"},
		{"object.spec.paused", "spec.paused"},
		{"false", ""},
		// Keys.
		{"object.metadata.labels['tier'] in ['silver']", "metadata.labels.tier"},
		{"object.metadata.labels['app.kubernetes.io/part-of'] == 'x'", "metadata.labels[app.kubernetes.io/part-of]"},
		{"object.data['1'] == 'x'", "data[1]"},
		{"object.data['odd]key'] == 'y'", `data["odd]key"]`},
		{"object.spec.ports[1] != 22", "spec.ports[1]"},
		{"object.spec.template.spec.containers[2].image.endsWith(':v3')", "spec.template.spec.containers[2].image"},
		{"object.metadata.labels[object.data.mode] == 'x'", "metadata.labels.fast data.mode"},
		{"object.data[params.key] == 'slow'", "data.mode"},
		// Absent fields.
		{"has(object.spec.minReadySeconds)", "spec.minReadySeconds"},
		{"!has(object.spec.paused)", "spec.paused"},
		{"'team' in object.metadata.labels", "metadata.labels.team"},
		{"!('tier' in object.metadata.labels)", "metadata.labels.tier"},
		{"has(object.metadata.labels) && 'team' in object.metadata.labels", "metadata.labels.team"},
		{"has(object.metadata.finalizers) && 'x' in object.metadata.finalizers", "metadata.finalizers"},
		{"object.spec.missing.deeper == 1", "spec.missing"},
		{"object.spec.ports[7] == 1", "spec.ports"},
		{"object.spec.replicas.startsWith('x')", "spec.replicas"},
		{"'Egress' in object.spec.ports", "spec.ports"},
		{"!(22 in object.spec.ports)", "spec.ports[1]"},
		{"object.metadata.namespace in ['a', 'b']", "metadata.namespace"},
		// Optional fields.
		{"object.spec.?minReadySeconds.orValue(0) > 5", "spec.minReadySeconds"},
		{"object.metadata.?labels.?owner.orValue('') != ''", "metadata.labels.owner"},
		{"object.metadata.?finalizers.?x.orValue('') != ''", "metadata.finalizers.x"},
		{"object.metadata.?annotations[?'example.com/contact'].orValue('').endsWith('.com')", "metadata.annotations[example.com/contact]"},
		{"object.spec.?template.spec.hostPID.orValue(false)", "spec.template.spec.hostPID"},
		{"object.spec.?strategy.?type.hasValue() && object.spec.?nothing.hasValue()", "spec.nothing"},
		{"object.spec.?nothing.value() == 1", "spec.nothing"},
		{"object.spec.?strategy.value().type == 'x'", "spec.strategy.type"},
		{"object.spec.?strategy.optMap(s, s.type == 'x').orValue(true)", "spec.strategy.type"},
		{"object.spec.?strategy.optFlatMap(s, s.?type).orValue('x') == 'x'", "spec.strategy.type"},
		{"object.spec.?nothing.or(object.spec.?replicas).orValue(1) == 1", "spec.replicas"},
		{"object.spec.?nothing.or(object.spec.?never).orValue(1) == 2", "spec.nothing spec.never"},
		{"optional.of(object.spec.replicas).orValue(1) == 1", "spec.replicas"},
		{"object.spec.?ports[?9].orValue(0) == 1", "spec.ports[9]"},
		// Logic.
		{"object.spec.replicas > 1 && object.spec.strategy.type == 'x'", "spec.strategy.type"},
		{"object.spec.replicas > 99 && object.spec.strategy.type == 'x'", "spec.replicas spec.strategy.type"},
		{"object.spec.replicas > 99 || object.spec.strategy.type == 'x'", "spec.replicas spec.strategy.type"},
		{"object.metadata.labels.tier != 'gold' || object.spec.replicas < 3", "spec.replicas metadata.labels.tier"},
		{"!has(object.spec.replicas) || object.spec.replicas < 3", "spec.replicas"},
		{"!(object.spec.replicas > 3 && object.spec.strategy.type == 'Recreate')", "spec.replicas spec.strategy.type"},
		{"!(object.spec.replicas > 99 || object.spec.strategy.type == 'Recreate')", "spec.strategy.type"},
		{"object.metadata.labels.tier == 'gold' ? object.spec.replicas < 3 : object.spec.paused", "spec.replicas metadata.labels.tier"},
		{"(has(object.spec.none) ? object.spec.none : 1) > 3", "spec.none"},
		{"object.spec.none == 1 && object.spec.replicas == 12", "spec.none"},
		{"object.spec.none == 1 || object.spec.replicas == 1", "spec.none"},
		{"!(has(object.spec.strategy) && has(object.spec.strategy.type) && object.spec.strategy.type == 'Recreate')", "spec.strategy.type"},
		{"!has(object.spec.strategy) || !has(object.spec.strategy.type) || object.spec.strategy.type == 'x'", "spec.strategy.type"},
		{"has(object.metadata.labels.exempt) || object.spec.replicas < 3", "spec.replicas metadata.labels.exempt"},
		{"object.metadata.namespace != 'shop' || 'team' in object.metadata.labels", "metadata.labels.team metadata.namespace"},
		{"object.kind != 'Deployment' || object.spec.replicas < 3", "spec.replicas"},
		{"object.kind != 'Deployment'", "kind"},
		// Elements.
		{"object.spec.template.spec.containers.all(c, c.image.startsWith('registry.example.com/'))", "spec.template.spec.containers[1].image spec.template.spec.containers[2].image"},
		{"object.spec.template.spec.containers.all(c, !c.image.endsWith(':latest'))", "spec.template.spec.containers[1].image"},
		{"object.spec.template.spec.containers.all(c, has(c.resources) && has(c.resources.limits) && 'memory' in c.resources.limits)", "spec.template.spec.containers[1].resources spec.template.spec.containers[2].resources.limits.memory"},
		{"object.spec.template.spec.containers.all(c, c.?securityContext.?privileged.orValue(false) == false)", "spec.template.spec.containers[1].securityContext.privileged"},
		{"object.spec.template.spec.containers.all(c, c.?securityContext.?runAsNonRoot.orValue(true) && c.name != 'log')", "spec.template.spec.containers[2].name"},
		{"object.spec.template.spec.containers.all(c, c.?args.orValue([]).all(a, !a.startsWith('--')))", "spec.template.spec.containers[1].args[1]"},
		{"object.spec.template.spec.containers.all(c, c.resources.limits.memory == '1Gi')", "spec.template.spec.containers[1].resources spec.template.spec.containers[2].resources.limits.memory"},
		{"object.spec.ports.all(p, p in [80, 443])", "spec.ports[1]"},
		{"object.spec.ports.all(p, false)", "spec.ports[0] spec.ports[1] spec.ports[2]"},
		{"object.spec.ports.all(i, p, i < 2)", "spec.ports[2]"},
		{"object.data.all(k, object.data[k] != 'loud')", "data.LOG_LEVEL"},
		{"object.data.all(k, v, v != 'loud')", "data.LOG_LEVEL"},
		{"object.data.all(k, v, v == '')", `data[1] data.LOG_LEVEL data.mode data["odd]key"]`},
		{"object.data.all(k, k != 'mode')", "data.mode"},
		{"['app', 'team'].all(l, l in object.metadata.labels)", "metadata.labels.team"},
		{"params.labels.all(l, has(object.metadata.labels) && l in object.metadata.labels)", "metadata.labels.owner"},
		{"!object.spec.ports.all(p, p > 0)", "spec.ports[0] spec.ports[1] spec.ports[2]"},
		{"object.spec.template.spec.containers.exists(c, c.name == 'envoy')", "spec.template.spec.containers"},
		{"object.spec.template.spec.containers.exists(c, c.name == 'app' && c.image.endsWith(':v9'))", "spec.template.spec.containers[0].image"},
		{"object.spec.template.spec.containers.exists(c, has(c.livenessProbe))", "spec.template.spec.containers"},
		{"!object.spec.template.spec.containers.exists(c, c.image.endsWith(':latest'))", "spec.template.spec.containers[1].image"},
		{"!object.spec.template.spec.volumes.exists(v, has(v.hostPath))", "spec.template.spec.volumes[1].hostPath"},
		{"object.spec.?volumeClaims.orValue([]).exists(v, true)", "spec.volumeClaims"},
		{"object.spec.empty.exists(v, true)", "spec.empty"},
		{"object.spec.ports.exists_one(p, p < 100)", "spec.ports[0] spec.ports[1]"},
		{"object.spec.ports.existsOne(p, p == 8080)", "spec.ports"},
		{"['registry.example.com/', 'quay.io/'].exists(r, object.spec.template.spec.containers[1].image.startsWith(r))", "spec.template.spec.containers[1].image"},
		{"object.spec.template.spec.containers.all(c, params.labels.exists(l, c.image.startsWith(l)))", "spec.template.spec.containers[0].image spec.template.spec.containers[1].image spec.template.spec.containers[2].image"},
		{"object.spec.template.spec.containers.all(c, ['a', 'b'].exists_one(l, c.image.startsWith(l)))", "spec.template.spec.containers[0].image spec.template.spec.containers[1].image spec.template.spec.containers[2].image"},
		{"[8080].exists(p, p in object.spec.ports)", "spec.ports"},
		{"object.spec.template.spec.containers.all(c, ['a'].exists(l, c.?securityContext.?user.orValue('') == l))", "spec.template.spec.containers[0].securityContext.user spec.template.spec.containers[1].securityContext.user spec.template.spec.containers[2].securityContext.user"},
		{"!['docker.io/'].exists(r, object.spec.template.spec.containers[1].image.startsWith(r))", "spec.template.spec.containers[1].image"},
		{"!['docker.io/'].all(r, object.spec.template.spec.containers[1].image.startsWith(r))", "spec.template.spec.containers[1].image"},
		// Conditions on names come last.
		{"!object.spec.template.spec.containers.exists(c, c.name == 'side' && c.image.endsWith(':latest'))", "spec.template.spec.containers[1].image spec.template.spec.containers[1].name"},
		{"!object.spec.template.spec.containers.exists(c, c.name.startsWith('si') && c.image == 'docker.io/side:latest')", "spec.template.spec.containers[1].image spec.template.spec.containers[1].name"},
		{"object.spec.template.spec.containers.all(c, c.name != 'side' || !c.image.endsWith(':latest'))", "spec.template.spec.containers[1].image spec.template.spec.containers[1].name"},
		{"object.spec.template.spec.containers.all(c, !(c.name in ['side'] && c.image.endsWith(':latest')))", "spec.template.spec.containers[1].image spec.template.spec.containers[1].name"},
		{"object.spec.template.spec.containers.filter(c, c.name == 'side' && c.image.endsWith(':latest')).size() == 0", "spec.template.spec.containers[1].image spec.template.spec.containers[1].name"},
		{"!(object.metadata.labels.tier == 'gold' && object.spec.replicas > 3)", "spec.replicas metadata.labels.tier"},
		// Selections.
		{"object.spec.template.spec.containers.filter(c, c.name == 'app')[0].image.endsWith(':v9')", "spec.template.spec.containers[0].image"},
		{"object.spec.template.spec.containers.filter(c, c.name == 'side').all(c, !has(c.securityContext))", "spec.template.spec.containers[1].securityContext"},
		{"object.spec.template.spec.containers.filter(c, c.name == 'envoy').size() == 1", "spec.template.spec.containers"},
		{"object.spec.template.spec.containers.filter(c, c.image.endsWith(':latest')).size() == 0", "spec.template.spec.containers[1].image"},
		{"object.spec.template.spec.containers.filter(c, has(c.resources)).size() == object.spec.template.spec.containers.size()", "spec.template.spec.containers[1].resources"},
		{"object.spec.template.spec.containers.filter(c, has(c.resources)).size() >= 3", "spec.template.spec.containers[1].resources"},
		{"object.spec.template.spec.containers.map(c, c.image).all(i, !i.endsWith(':latest'))", "spec.template.spec.containers[1].image"},
		{"object.spec.template.spec.containers.map(c, c.name == 'log', c.image)[0] == 'x'", "spec.template.spec.containers[2].image"},
		{"object.spec.template.spec.containers.map(c, c.name).join(',') == 'app'", "spec.template.spec.containers[0].name spec.template.spec.containers[1].name spec.template.spec.containers[2].name"},
		{"object.spec.ports.transformList(i, p, p * 2).all(p, p != 44)", "spec.ports[1]"},
		{"object.data.transformMap(k, v, v + '!')['mode'] == 'x'", "data.mode"},
		{"object.spec.template.spec.containers.map(c, c.resources.limits.memory == '1Gi', c.name).size() == 9", "spec.template.spec.containers[1].resources"},
		{"object.spec.template.spec.containers.transformMap(i, c, c.resources.limits.memory == '1Gi', c.name).size() == 9", "spec.template.spec.containers[1].resources"},
		{"object.spec.template.spec.containers.transformMapEntry(i, c, c.resources.limits.memory == '1Gi', {c.name: i}).size() == 9", "spec.template.spec.containers[1].resources"},
		{"object.data.transformMapEntry(k, v, {v: k})['loud'] == 'x'", "data.LOG_LEVEL"},
		{"object.spec.template.spec.containers.sortBy(c, c.name)[1].image == 'x'", "spec.template.spec.containers[2].image"},
		{"(object.spec.template.spec.containers + object.spec.template.spec.?initContainers.orValue([])).all(c, c.?securityContext.?runAsUser.orValue(1000) != 0)", "spec.template.spec.initContainers[0].securityContext.runAsUser"},
		{"sets.contains([80, 443], object.spec.ports)", "spec.ports"},
		{"object.spec.ports.sum() < 100", "spec.ports"},
		// Variables.
		{"variables.containers.all(c, !c.image.endsWith(':latest'))", "spec.template.spec.containers[1].image"},
		{"variables.all.all(c, c.?securityContext.?runAsUser.orValue(1) != 0)", "spec.template.spec.initContainers[0].securityContext.runAsUser"},
		{"size(variables.foreign) == 0", "spec.template.spec.containers[1].image spec.template.spec.containers[2].image"},
		{"variables.foreign.size() == 0", "spec.template.spec.containers[1].image spec.template.spec.containers[2].image"},
		{"variables.images.all(i, i.startsWith('registry.example.com/'))", "spec.template.spec.containers[1].image spec.template.spec.containers[2].image"},
		{"object.spec.replicas < variables.max", "spec.replicas"},
		{"!object.?data.orValue({}).exists(k, object.data[k] in variables.known)", "data.mode"},
		{"variables.info.replicas < 5", "spec.replicas"},
		{"cel.bind(r, object.spec.replicas, r < 5)", "spec.replicas"},
		{"[1].all(variables, object.spec.replicas < variables)", "spec.replicas"},
		{"variables.loop == 1", ""},
		{"variables.a || variables.missing", ""},
		// Libraries, types and values from outside the object.
		{"!quantity(object.spec.template.spec.containers[0].resources.limits.memory).isGreaterThan(quantity('500Mi'))", "spec.template.spec.containers[0].resources.limits.memory"},
		{"type(object.spec.maxSurge) == int", "spec.maxSurge"},
		{"type(object.spec.maxSurge) != string || int(object.spec.maxSurge.replace('%', '')) < 5", "spec.maxSurge"},
		{"authorizer.group('apps').resource('deployments').check('create').allowed() || object.spec.replicas < 3", "spec.replicas"},
		{"request.namespace == 'other'", "metadata.namespace"},
		{"request.operation == 'DELETE'", ""},
		{"namespaceObject.metadata.labels.env == 'prod'", "metadata.namespace"},
		{"namespaceObject.metadata.labels.env == 'prod' || object.spec.replicas < 3", "spec.replicas"},
		{"params.max > 100", ""},
		{"object.metadata.`labels`.tier == 'x'", "metadata.labels.tier"},
		// Expressions that the API server never evaluates.
		{"object.spec.replicas <", ""},
		{"nonsense(object.spec.replicas)", "spec.replicas"},
		{"Deployment{spec: 1}", ""},
	}
	f := newFinder(t)
	request := map[string]any{"namespace": "shop", "name": "web", "operation": "CREATE"}
	params := parse(t, `{max: 5, key: mode, labels: [app, owner]}`)
	namespace := parse(t, `{metadata: {name: shop, labels: {env: test}}}`)
	for _, test := range tests {
		t.Run(test.expression, func(t *testing.T) {
			got := f.Fields(locate.Question{
				Expression: test.expression, Variables: variables, Object: parse(t, shop), OldObject: parse(t, old),
				Params: params, Request: request, Namespace: namespace,
			})
			if diff := cmp.Diff(strings.Fields(test.want), append([]string{}, got...)); diff != "" {
				t.Errorf("paths (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFieldsOfDeleted checks that fields are found in the old object if there is no other.
func TestFieldsOfDeleted(t *testing.T) {
	f := newFinder(t)
	for expression, want := range map[string]string{
		"oldObject.metadata.labels.tier == 'gold'":                                      "metadata.labels.tier",
		"oldObject.metadata.?annotations[?'example.com/retain'].orValue('') == 'false'": "metadata.annotations[example.com/retain]",
		"object == null && oldObject.spec.replicas == 0":                                "spec.replicas",
	} {
		got := f.Fields(locate.Question{Expression: expression, OldObject: parse(t, old)})
		if diff := cmp.Diff([]string{want}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", expression, diff)
		}
	}
}

func newFinder(t testing.TB) *locate.Finder {
	t.Helper()
	f, err := locate.NewFinder()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// parse decodes YAML as the API server does: whole numbers are int64.
func parse(t testing.TB, text string) map[string]any {
	t.Helper()
	var content map[string]any
	if err := yaml.Unmarshal([]byte(text), &content); err != nil {
		t.Fatal(err)
	}
	return whole(content).(map[string]any)
}

func whole(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = whole(v[k])
		}
	case []any:
		for i := range v {
			v[i] = whole(v[i])
		}
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	}
	return v
}
