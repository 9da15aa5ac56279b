package scanner_test

import (
	"strings"
	"testing"

	"github.com/preadmit/preadmit/scanner/admission/apply"
)

// Fields that others wrote to a Namespace, a param or a role of the tree affect verdicts on other
// objects too.

const shopTree = `
-- app/shop.yaml --
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {team: a}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: limits, namespace: shop}
data: {most: "3"}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: "system:authenticated"}]
`

const shopLive = `
-- live.yaml --
apiVersion: v1
kind: Namespace
metadata: {name: shop, uid: u, labels: {kubernetes.io/metadata.name: shop, team: a, tier: high}, annotations: {owner: mia}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: limits, namespace: shop, uid: u}
data: {most: "3", least: "2"}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader, uid: u}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}
rules: [{apiGroups: [""], resources: [secrets], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reader, uid: u}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: "system:authenticated"}]
`

func TestWhatOthersDecide(t *testing.T) {
	selected := func(labels string) string {
		return strings.Replace(webRule("UPDATE", "false"), "  matchConstraints:\n", "  matchConstraints:\n    namespaceSelector: {matchLabels: {"+labels+"}}\n", 1)
	}
	param := func(expression string) string {
		rule := strings.Replace(webRule("UPDATE", expression), "  matchConstraints:\n", "  paramKind: {apiVersion: v1, kind: ConfigMap}\n  matchConstraints:\n", 1)
		return strings.Replace(rule, "policyName: rule,", "policyName: rule, paramRef: {name: limits, namespace: shop, parameterNotFoundAction: Deny},", 1)
	}
	removed := strings.NewReplacer("web:1", "web:2", ", labels: {team: a}", "")
	for name, test := range map[string]struct {
		rule   string
		change *strings.Replacer
		by     apply.Applier
		want   string
	}{
		"a label that others wrote":          {selected("tier: high"), nil, apply.Flux, "existing UPDATE: not so"},
		"it stays when tools merge":          {selected("tier: high"), nil, apply.ArgoCD, "existing UPDATE: not so"},
		"it goes when they replace":          {selected("tier: high"), nil, apply.Replace, ""},
		"nobody says which tool":             {selected("tier: high"), nil, "", "existing UPDATE: not so"},
		"a label of the tree":                {selected("team: a"), nil, apply.Flux, "existing UPDATE: not so"},
		"a label that the change removes":    {webRule("UPDATE", "'team' in namespaceObject.metadata.labels"), removed, apply.Flux, "new UPDATE: not so"},
		"an annotation":                      {webRule("UPDATE", "namespaceObject.metadata.annotations.owner == 'mia'"), nil, apply.Flux, ""},
		"data of a param":                    {param("params.data.most == '3' && params.data.least == '2'"), nil, apply.Flux, ""},
		"rules that a controller aggregates": {webRule("UPDATE", "authorizer.group('').resource('secrets').check('get').allowed()"), nil, apply.Flux, ""},
	} {
		base := servedWeb + shopTree + test.rule
		change := test.change
		if change == nil {
			change = strings.NewReplacer("web:1", "web:2")
		}
		if got := outcomeOf(scanLive(t, base, change.Replace(base), shopLive, test.by)); got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, test.want)
		}
	}
}
