package policy_test

import (
	"strings"
	"testing"
)

const release = `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, labels: {team: a}}
spec:
  interval: 5m
  chart: {spec: {chart: web, version: 1.2.3}}
  valuesFrom: [{kind: Secret, name: values}]
`

// releases returns a policy on HelmReleases with its binding.
func releases(expression, constraints, spec, binding string) string {
	return strings.Replace(deny(expression, constraints, spec, binding),
		`{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}`,
		`{apiGroups: [helm.toolkit.fluxcd.io], apiVersions: [v2], operations: [CREATE], resources: [helmreleases]}`, 1)
}

// TestKindsKnownByName: for a kind without a definition, the written fields are known, but not those
// for which the definition may have a default.
func TestKindsKnownByName(t *testing.T) {
	const defaults = "which is not known: the CustomResourceDefinition of HelmRelease may have a default for it, and is not in the repository"
	for expression, want := range map[string]string{
		"object.spec.interval == '5m'":                                   "passes",
		"object.spec.interval == '1m'":                                   "denied",
		"has(object.spec.interval)":                                      "passes",
		"object.spec.chart.spec.version != '1.2.3'":                      "denied",
		"'team' in object.metadata.labels":                               "passes",
		"'other' in object.metadata.labels":                              "denied",
		"has(object.metadata.annotations)":                               "denied",
		"object.metadata.namespace == 'default'":                         "passes",
		"request.resource.resource == 'helmreleases'":                    "passes",
		"has(object.spec.suspend)":                                       "object.spec.suspend, " + defaults,
		"!has(object.spec.suspend) || !object.spec.suspend":              "object.spec.suspend, " + defaults,
		"object.spec.suspend == true":                                    "object.spec.suspend, " + defaults,
		"object.spec.?suspend.orValue(false) == false":                   "object.spec.suspend, " + defaults,
		"'suspend' in object.spec":                                       "object.spec.suspend, " + defaults,
		"has(object.status)":                                             "object.status, " + defaults,
		"has(object.spec.chart.spec.sourceRef)":                          "object.spec.chart.spec.sourceRef, " + defaults,
		"object.spec.valuesFrom.size() == 1":                             "passes",
		"object.spec.valuesFrom.all(v, v.kind == 'Secret')":              "passes",
		"object.spec.valuesFrom.all(v, v.kind != 'Secret')":              "denied",
		"object.spec.valuesFrom.exists(v, has(v.valuesKey))":             "object.spec.valuesFrom[0].valuesKey, " + defaults,
		"object.spec.size() == 3":                                        defaults,
		"object.spec.all(k, k != 'none')":                                defaults,
		"object.spec.chart.spec == {'chart': 'web', 'version': '1.2.3'}": defaults,
		"object.spec.chart.spec == {'chart': 'web', 'version': '2'}":     "denied",
	} {
		t.Run(expression, func(t *testing.T) {
			expect(t, judgeUnknown(t, release, releases(expression, "", "", "")), want)
		})
	}
	for name, test := range map[string]struct{ object, policy, want string }{
		"message":         {release, strings.Replace(releases("false", "", "", ""), "message: denied", `messageExpression: "'no ' + object.spec.chart.spec.chart"`, 1), "no web"},
		"another version": {strings.Replace(release, "/v2", "/v2beta2", 1), releases("false", "", "", ""), "spec.matchConstraints is for another version of HelmRelease.helm.toolkit.fluxcd.io"},
		"exactly that":    {strings.Replace(release, "/v2", "/v2beta2", 1), releases("false", "    matchPolicy: Exact", "", ""), "passes"},
		"another kind":    {strings.Replace(strings.Replace(release, "helm.toolkit", "kustomize.toolkit", 1), "HelmRelease", "Kustomization", 1), releases("false", "", "", ""), "passes"},
		"unknown value":   {strings.Replace(release, "5m", "${INTERVAL}", 1), releases("object.spec.interval == '5m'", "", "", ""), "object.spec.interval, which is not known: it contains ${INTERVAL}"},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, judgeUnknown(t, test.object, test.policy), test.want)
		})
	}
}
