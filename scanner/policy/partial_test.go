package policy_test

import (
	"strings"
	"testing"

	k8sadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy"
)

// withVariables parses objects in which every `${...}` is unknown.
func withVariables(t testing.TB, texts ...string) []*admission.Object {
	all := objects(t, texts...)
	for _, o := range all {
		data, err := o.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if !policy.IsPolicy(o) {
			o.Unknown = (&render.Object{JSON: data}).Variables()
		}
	}
	return all
}

// judgeUnknown judges the creation of an object in a cluster of which only state is known.
func judgeUnknown(t testing.TB, text string, state ...string) policy.Outcome {
	t.Helper()
	all := withVariables(t, state...)
	cluster := admission.NewCluster(admission.ClusterOptions{}, admission.NewIndex(all))
	flux := &user.DefaultInfo{Name: "system:serviceaccount:flux-system:kustomize-controller"}
	set, refusals := policy.Load(t.Context(), cluster, flux, all)
	for _, r := range refusals {
		t.Fatalf("refused: %s", r.Message)
	}
	req, _, err := cluster.Prepare(t.Context(), admission.ClientRequest{
		Operation: k8sadmission.Create, User: flux, Object: withVariables(t, text)[0],
	})
	if err != nil {
		t.Fatal(err)
	}
	return policy.NewEngine(cluster, policy.NewCompiler(), set).Evaluate(t.Context(), req)
}

// settings has one unknown value in a map, one in a list, and known ones beside them.
const settings = `
apiVersion: v1
kind: Pod
metadata: {name: settings, namespace: shop, labels: {team: "${TEAM}", app: web}, annotations: {"${KEY}": x}}
spec:
  hostNetwork: ${HOST}
  priorityClassName: ${CLASS}
  containers:
  - {name: a, image: "nginx:1", args: [x, "${ARG}", z]}
  - {name: b, image: "${IMAGE}"}
`

func podPolicy(expression, constraints, spec, binding string) string {
	return strings.Replace(deny(expression, constraints, spec, binding), "configmaps", "pods", 1)
}

// TestUnknownValues: results that depend on an unknown value are indeterminate, and no others.
func TestUnknownValues(t *testing.T) {
	const (
		pass   = "passes"
		denied = "denied"
		team   = "object.metadata.labels.team, which is not known: it contains ${TEAM}"
		image  = "object.spec.containers[1].image, which is not known: it contains ${IMAGE}"
		arg    = "object.spec.containers[0].args[1], which is not known: it contains ${ARG}"
		host   = "object.spec.hostNetwork, which is not known: it contains ${HOST}"
		class  = "object.spec.priorityClassName, which is not known: it contains ${CLASS}"
		key    = "object.metadata.annotations, which is not known: it contains ${KEY}"
	)
	for expression, want := range map[string]string{
		// values
		"object.metadata.labels.team == 'a'":                                     team,
		"object.metadata.labels['team'] == 'a'":                                  team,
		"object.metadata.labels.app == 'web'":                                    pass,
		"object.metadata.labels.app == 'db'":                                     denied,
		"object.metadata.labels.team.startsWith('a')":                            team,
		"object.metadata.labels.team + 'x' != ''":                                team,
		"'a' < object.metadata.labels.team":                                      team,
		"size(object.metadata.labels.team) > 2":                                  team,
		"object.metadata.labels.team.size() > 2":                                 team,
		"object.metadata.labels.team.matches('^a')":                              team,
		"object.metadata.labels.team in ['a', 'b']":                              team,
		"'app' in object.metadata.labels":                                        pass,
		"'team' in object.metadata.labels":                                       pass,
		"'other' in object.metadata.labels":                                      denied,
		"object.metadata.labels[object.metadata.labels.team] == 'x'":             team,
		"string(object.metadata.labels.team) == 'x'":                             team,
		"type(object.metadata.labels.team) == string":                            team,
		"!(object.metadata.labels.team == 'x')":                                  team,
		"object.metadata.labels.team == object.metadata.labels.team":             team,
		"[object.metadata.labels.team].size() == 1":                              team,
		"{'a': object.metadata.labels.team}.a == 'x'":                            team,
		"format.dns1123Label().validate(object.metadata.labels.team).hasValue()": team,
		// presence
		"has(object.metadata.labels)":                               pass,
		"has(object.metadata.labels.team)":                          pass,
		"has(object.metadata.labels.other)":                         denied,
		"has(object.metadata.labels.team.x)":                        team,
		"has(object.metadata.annotations)":                          key,
		"has(object.metadata.annotations.x)":                        key,
		"'x' in object.metadata.annotations":                        key,
		"object.metadata.annotations.size() > 0":                    key,
		"has(object.spec.hostNetwork)":                              host,
		"!has(object.spec.hostNetwork) || !object.spec.hostNetwork": host,
		"has(object.spec.priorityClassName)":                        class,
		"object.spec.?hostNetwork.orValue(false) == false":          host,
		"object.?metadata.?labels.?team.orValue('') == 'x'":         team,
		"object.?metadata.?labels.?none.orValue('') == ''":          pass,
		"object.metadata.labels[?'team'].hasValue()":                team,
		"size(object.spec) > 2":                                     "is not known",
		"object.spec.exists(k, k == 'none')":                        "is not known",
		"object.spec.all(k, k != 'containers')":                     "is not known",
		// logic
		"object.metadata.labels.team == 'x' && false":                                    denied,
		"false && object.metadata.labels.team == 'x'":                                    denied,
		"object.metadata.labels.team == 'x' || true":                                     pass,
		"object.metadata.labels.team == 'x' || object.metadata.name == 'settings'":       pass,
		"object.metadata.labels.team == 'x' || object.nothing == 'x'":                    team,
		"object.nothing == 'x' || object.metadata.labels.team == 'x'":                    team,
		"object.metadata.labels.team == 'x' ? true : true":                               team,
		"object.metadata.name == 'settings' ? true : object.metadata.labels.team == 'x'": pass,
		"object.metadata.name == 'other' ? true : object.metadata.labels.team == 'x'":    team,
		// loops
		"object.spec.containers.all(c, c.name != 'z')":                                 pass,
		"object.spec.containers.all(c, c.name != 'a')":                                 denied,
		"object.spec.containers.all(c, c.image.contains(':'))":                         image,
		"object.spec.containers.all(c, c.image.startsWith('other'))":                   denied,
		"object.spec.containers.exists(c, c.image.startsWith('nginx'))":                pass,
		"object.spec.containers.exists(c, c.image.startsWith('other'))":                image,
		"object.spec.containers.exists_one(c, c.image == 'nginx:1')":                   image,
		"object.spec.containers.exists_one(c, c.name == 'a')":                          pass,
		"object.spec.containers.filter(c, c.name == 'a').all(c, c.image == 'nginx:1')": pass,
		"object.spec.containers.filter(c, c.image == 'x').size() == 0":                 image,
		"object.spec.containers.map(c, c.name) == ['a', 'b']":                          pass,
		"object.spec.containers.map(c, c.image).exists(i, i == 'x')":                   image,
		"object.spec.containers.all(i, c, i < 2 || c.image == 'x')":                    pass,
		"object.spec.containers.exists(i, c, i == 1 && c.image == 'x')":                image,
		"object.spec.containers.transformList(i, c, c.name).size() == 2":               pass,
		"object.metadata.labels.all(k, k in ['app', 'team'])":                          pass,
		"object.metadata.labels.all(k, object.metadata.labels[k] != 'web')":            denied,
		"object.metadata.labels.exists(k, object.metadata.labels[k] == 'x')":           team,
		"object.metadata.labels.all(k, v, v != 'web')":                                 denied,
		"object.metadata.labels.all(k, v, v != 'x')":                                   team,
		"object.spec.containers[1].image == 'x'":                                       image,
		"object.spec.containers[0].image == 'nginx:1'":                                 pass,
		// containers with an unknown value
		"object.spec.containers.size() == 2":                                                pass,
		"object.spec.containers[0].args.size() == 3":                                        pass,
		"object.spec.containers[0].args == ['x', 'y', 'z']":                                 arg,
		"object.spec.containers[0].args == ['x', 'y']":                                      denied,
		"object.spec.containers[0].args == ['x', 'y', 'other']":                             denied,
		"object.spec.containers[0].args != ['x', 'y', 'other']":                             pass,
		"object.spec.containers[0].args != ['x', 'y', 'z']":                                 arg,
		"'x' in object.spec.containers[0].args":                                             pass,
		"'other' in object.spec.containers[0].args":                                         arg,
		"!('other' in object.spec.containers[0].args)":                                      arg,
		"object.spec.containers[0].args.join(',') == 'x,y,z'":                               arg,
		"object.spec.containers[0].args.indexOf('z') == 2":                                  arg,
		"sets.contains(object.spec.containers[0].args, ['other'])":                          arg,
		"object.spec.containers[0].args.isSorted()":                                         arg,
		"(object.spec.containers[0].args + ['w'])[3] == 'w'":                                pass,
		"(object.spec.containers[0].args + ['w'])[1] == 'w'":                                arg,
		"[[object.spec.containers[0].args]] == [[['x', 'y', 'z']]]":                         arg,
		"[object.spec.containers[0].args][0].size() == 3":                                   pass,
		"dyn(object.spec.containers[0].args) == 'x'":                                        denied,
		"object.metadata.labels == {'team': 'a', 'app': 'web'}":                             team,
		"object.metadata.labels == {'team': 'a', 'app': 'db'}":                              denied,
		"object.metadata.labels == {'app': 'web'}":                                          denied,
		"optional.of(object.spec.containers[0].args).value()[0] == 'x'":                     pass,
		"optional.of(object.spec.containers[0].args).value()[1] == 'x'":                     arg,
		"object.spec.containers[0].args.map(a, a + '!').size() == 3":                        arg,
		"authorizer.group('').resource(object.metadata.labels.team).check('get').allowed()": team,
		// defaults that a server derives from unknown values
		"object.spec.containers[0].imagePullPolicy == 'IfNotPresent'": pass,
		"object.spec.containers[1].imagePullPolicy == 'Always'":       "object.spec.containers[1].image, which is not known",
		"object.spec.restartPolicy == 'Always'":                       pass,
		"object.spec.dnsPolicy == 'ClusterFirst'":                     pass,
		"request.name == 'settings'":                                  pass,
		// errors for all values
		"object.spec.nothing == object.metadata.labels.app": "no such key: nothing",
	} {
		t.Run(expression, func(t *testing.T) {
			expect(t, judgeUnknown(t, settings, podPolicy(expression, "", "", "")), want)
		})
	}
}

// expect compares an outcome with "passes", the message of its decision, or the reason why it is
// indeterminate.
func expect(t *testing.T, out policy.Outcome, want string) {
	t.Helper()
	switch {
	case len(out.Decisions) > 0 && len(out.Indeterminate) == 0:
		if d := out.Decisions[0]; !strings.Contains(d.Message, want) {
			t.Errorf("denied: %s; want %q", d.Message, want)
		}
	case len(out.Indeterminate) > 0 && len(out.Decisions) == 0:
		if why := out.Indeterminate[0].Why; !strings.Contains(why, want) {
			t.Errorf("indeterminate: %s; want %q", why, want)
		}
	case len(out.Indeterminate) > 0:
		t.Errorf("%d decisions, %d indeterminate", len(out.Decisions), len(out.Indeterminate))
	case want != "passes":
		t.Errorf("passes; want %q", want)
	}
}

// TestUnknownParts: unknown values in all other parts of an outcome.
func TestUnknownParts(t *testing.T) {
	const team = "object.metadata.labels.team, which is not known"
	limits := func(value string) string {
		return "{apiVersion: v1, kind: ConfigMap, metadata: {name: l, namespace: shop}, data: {max: '" + value + "', min: '1'}}"
	}
	param := "  paramKind: {apiVersion: v1, kind: ConfigMap}"
	ref := "  paramRef: {name: l, parameterNotFoundAction: Deny}"
	for name, test := range map[string]struct {
		state []string
		want  string
	}{
		"variable":                      {[]string{podPolicy("variables.t == 'x'", "", "  variables: [{name: t, expression: object.metadata.labels.team}]", "")}, team},
		"variable nobody reads":         {[]string{podPolicy("true", "", "  variables: [{name: t, expression: object.metadata.labels.team}]", "")}, "passes"},
		"known part of a variable":      {[]string{podPolicy("variables.l.app == 'db'", "", "  variables: [{name: l, expression: object.metadata.labels}]", "")}, "denied"},
		"has of a variable":             {[]string{podPolicy("has(variables.l.team) && has(variables.l.none)", "", "  variables: [{name: l, expression: object.metadata.labels}]", "")}, "denied"},
		"match condition":               {[]string{podPolicy("false", "", "  matchConditions: [{name: t, expression: 'object.metadata.labels.team == \"x\"'}]", "")}, `match condition "t" depends on ` + team[:7]},
		"match condition that excludes": {[]string{podPolicy("false", "", "  matchConditions: [{name: t, expression: 'object.metadata.labels.team == \"x\"'}, {name: never, expression: 'false'}]", "")}, "passes"},
		"match condition of no matter":  {[]string{podPolicy("true", "", "  matchConditions: [{name: t, expression: 'object.metadata.labels.team == \"x\"'}]", "")}, "passes"},
		"match condition that may fail": {[]string{podPolicy("true", "", "  matchConditions: [{name: t, expression: 'object.spec.hostNetwork == true'}]", "")}, `match condition "t" depends on object.spec.hostNetwork`},
		"match condition that asks":     {[]string{podPolicy("true", "", "  matchConditions: [{name: t, expression: 'has(object.spec.hostNetwork) && object.spec.hostNetwork == true'}]", "")}, "passes"},
		"match condition of a key":      {[]string{podPolicy("true", "", "  matchConditions: [{name: t, expression: 'object.metadata.annotations.a == \"b\"'}]", "")}, `match condition "t" depends on ` + "object.metadata.annotations"},
		"failure that is ignored":       {[]string{podPolicy("true", "", "  failurePolicy: Ignore\n  matchConditions: [{name: t, expression: 'object.spec.hostNetwork == true'}]", "")}, "passes"},
		"message":                       {[]string{strings.Replace(podPolicy("false", "", "", ""), "message: denied", `messageExpression: "'team ' + object.metadata.labels.team"`, 1)}, "team ${TEAM}"},
		"audit annotation":              {[]string{podPolicy("true", "", "  auditAnnotations: [{key: k, valueExpression: \"string(10 / (object.metadata.labels.team.size() - 7))\"}]", "")}, "spec.auditAnnotations may depend on values that are not known"},
		"audit annotation that fails":   {[]string{podPolicy("true", "", "  auditAnnotations: [{key: k, valueExpression: 'string(object.metadata.labels.none)'}]", "")}, "no such key: none"},
		"object selector":               {[]string{podPolicy("false", "    objectSelector: {matchLabels: {team: a}}", "", "")}, "spec.matchConstraints.objectSelector reads a label: metadata.labels.team is not known"},
		"object selector that excludes": {[]string{podPolicy("false", "    objectSelector: {matchLabels: {team: a, app: db}}", "", "")}, "passes"},
		"object selector of others":     {[]string{podPolicy("false", "    objectSelector: {matchLabels: {app: web}}", "", "")}, "denied"},
		"object selector of a binding":  {[]string{podPolicy("false", "", "", "  matchResources:\n    objectSelector: {matchLabels: {team: a}}")}, "spec.matchResources.objectSelector reads a label"},
		"label of the namespace":        {[]string{podPolicy("false", prodOnly, "", ""), strings.Replace(namespaceShop, "prod", "'${ENV}'", 1)}, `spec.matchConstraints.namespaceSelector reads a label of namespace "shop": metadata.labels.env is not known`},
		"namespaceObject":               {[]string{podPolicy("namespaceObject.metadata.labels.env == 'x'", "", "", ""), strings.Replace(namespaceShop, "prod", "'${ENV}'", 1)}, "namespaceObject.metadata.labels.env, which is not known"},
		"param":                         {[]string{podPolicy("params.data.max == '3'", "", param, ref), limits("${MAX}")}, "params.data.max, which is not known"},
		"known part of a param":         {[]string{podPolicy("params.data.min == '2'", "", param, ref), limits("${MAX}")}, "denied"},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, judgeUnknown(t, settings, test.state...), test.want)
		})
	}
}

// TestUnknownValuesOutOfBudget: validations that run out of their cost budget end the evaluation, so that no
// audit annotation is published, as without unknown values.
func TestUnknownValuesOutOfBudget(t *testing.T) {
	const long = `  variables: [{name: long, expression: "'xxxxxxxxxx'.replace('x', 'yyyyyyyyyy').replace('y', 'zzzzzzzzzzzzzzz').replace('z', 'aaaaa')"}]
  auditAnnotations: [{key: name, valueExpression: string(object.metadata.name)}]`
	expression := strings.Repeat(`variables.long.contains(variables.long)"}, {expression: "`, 20) + "object.metadata.name == 'settings'"
	const known = "{apiVersion: v1, kind: Pod, metadata: {name: settings, namespace: shop}, spec: {containers: [{name: a, image: a}]}}"
	for object, unknown := range map[string]bool{settings: true, known: false} {
		out := judgeUnknown(t, object, podPolicy(expression, "", long, ""), namespaceShop)
		if len(out.Decisions) != 1 || !strings.Contains(out.Decisions[0].Message, "cost budget") || len(out.AuditAnnotations) != 0 {
			t.Errorf("unknown values: %v: %d decisions, annotations %v, want one decision about the cost budget", unknown, len(out.Decisions), out.AuditAnnotations)
		}
	}
}
