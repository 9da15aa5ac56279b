package scanner_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// planGenerator generates small repositories whose roots depend on each other.
type planGenerator struct {
	*rand.Rand
}

func newPlanGenerator(seed uint64) *planGenerator {
	return &planGenerator{rand.New(rand.NewPCG(seed, 0))}
}

// oneIn is true once in n times.
func (g *planGenerator) oneIn(n int) bool { return g.IntN(n) == 0 }

// choose returns one of the choices.
func choose[T any](g *planGenerator, choices ...T) T { return choices[g.IntN(len(choices))] }

// There are few names, so that roots define the same objects.
func (g *planGenerator) name() string      { return choose(g, "x", "z") }
func (g *planGenerator) namespace() string { return choose(g, "a", "a", "team-b", "default") }

// within returns a line of metadata with the namespace, or none.
func (g *planGenerator) within() string {
	if g.oneIn(4) {
		return ""
	}
	return "\n  namespace: " + g.namespace()
}

// object returns a manifest of one object.
func (g *planGenerator) object() string {
	return choose(g, g.workload, g.workload, g.workload, g.config, g.config, g.policy, g.policy, g.binding, g.binding,
		g.namespaced, g.namespaced, g.custom, g.definition, g.limits, g.class, g.class, g.claim, g.rights, g.mutation)()
}

func (g *planGenerator) workload() string {
	pod := "  containers:\n  - name: c\n    image: i:" + choose(g, "1", "latest") + "\n"
	if g.oneIn(2) {
		pod += "    resources: {limits: {memory: " + choose(g, "1Gi", "2Gi") + "}}\n"
	}
	for _, line := range []string{"priorityClassName: x", "runtimeClassName: x", "nodeName: x"} {
		if g.oneIn(6) {
			pod += "  " + line + "\n"
		}
	}
	meta := fmt.Sprintf("metadata:\n  name: %s%s\n", g.name(), g.within())
	if g.oneIn(2) {
		return "apiVersion: v1\nkind: Pod\n" + meta + "spec:\n" + pod
	}
	return "apiVersion: apps/v1\nkind: Deployment\n" + meta + "spec:\n  selector: {matchLabels: {app: x}}\n  template:\n    metadata: {labels: {app: x}}\n    spec:\n" +
		indent(pod, "    ")
}

func indent(text, by string) string {
	return by + strings.TrimSuffix(strings.ReplaceAll(text, "\n", "\n"+by), by)
}

func (g *planGenerator) config() string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s%s\n  labels: {role: %s}\ndata: {level: %q}\n",
		choose(g, "x", "z", "limits", "my-limits"), g.within(), choose(g, "param", "none"), choose(g, "1", "2", "3"))
}

func (g *planGenerator) namespaced() string {
	labels := ""
	for _, label := range []string{"env: " + choose(g, "prod", "dev"), "pod-security.kubernetes.io/enforce: " + choose(g, "restricted", "baseline")} {
		if g.oneIn(2) {
			labels += "\n    " + label
		}
	}
	if labels != "" {
		labels = "\n  labels:" + labels
	}
	return fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: %s%s\n", g.namespace(), labels)
}

func (g *planGenerator) custom() string {
	return fmt.Sprintf("apiVersion: example.com/%s\nkind: %s\nmetadata:\n  name: %s%s\nspec: {level: %s}\n",
		choose(g, "v1", "v1", "v2"), choose(g, "Widget", "Widget", "Gadget"), g.name(), g.within(), choose(g, "1", "2", "many"))
}

func (g *planGenerator) definition() string {
	kind, plural := "Widget", "widgets"
	if g.oneIn(4) {
		kind = "Gadget"
	}
	if g.oneIn(4) {
		plural = "gadgets"
	}
	version := "  - name: %s\n    served: true\n    storage: %t\n    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {level: {type: %s}}}}}}\n"
	versions := fmt.Sprintf(version, "v1", true, choose(g, "integer", "string"))
	if g.oneIn(2) {
		versions += fmt.Sprintf(version, "v2", false, "integer")
	}
	return fmt.Sprintf("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: %s.example.com\nspec:\n  group: example.com\n  scope: %s\n  names: {kind: %s, plural: %s}\n  versions:\n%s",
		plural, choose(g, "Namespaced", "Namespaced", "Cluster"), kind, plural, versions)
}

func (g *planGenerator) limits() string {
	return fmt.Sprintf("apiVersion: v1\nkind: LimitRange\nmetadata:\n  name: %s%s\nspec:\n  limits:\n  - type: Container\n    %s: {memory: %s}\n",
		g.name(), g.within(), choose(g, "default", "max", "defaultRequest"), choose(g, "1Gi", "100Mi"))
}

func (g *planGenerator) class() string {
	name := "metadata:\n  name: " + g.name() + "\n"
	annotated := func(annotation string) string {
		if g.oneIn(2) {
			return name
		}
		return name + "  annotations: {" + annotation + `: "true"}` + "\n"
	}
	switch g.IntN(5) {
	case 0:
		return "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\n" + name + fmt.Sprintf("value: %d\nglobalDefault: %t\n", g.IntN(9), g.oneIn(2))
	case 1:
		return "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\n" + name + "handler: runc\nscheduling: {nodeSelector: {a: b}}\n"
	case 2:
		return "apiVersion: storage.k8s.io/v1\nkind: StorageClass\n" + annotated("storageclass.kubernetes.io/is-default-class") + "provisioner: p\n"
	case 3:
		return "apiVersion: networking.k8s.io/v1\nkind: IngressClass\n" + annotated("ingressclass.kubernetes.io/is-default-class") + "spec: {controller: example.com/c}\n"
	}
	return "apiVersion: v1\nkind: Node\n" + name + "  labels: {topology.kubernetes.io/zone: z" + choose(g, "1", "2") + "}\n"
}

func (g *planGenerator) claim() string {
	meta := fmt.Sprintf("metadata:\n  name: %s%s\n", g.name(), g.within())
	if g.oneIn(2) {
		return "apiVersion: networking.k8s.io/v1\nkind: Ingress\n" + meta + "spec: {defaultBackend: {service: {name: s, port: {number: 80}}}}\n"
	}
	return "apiVersion: v1\nkind: PersistentVolumeClaim\n" + meta + "spec:\n  accessModes: [ReadWriteOnce]\n  resources: {requests: {storage: 1Gi}}\n"
}

func (g *planGenerator) rights() string {
	if g.oneIn(2) {
		return fmt.Sprintf("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: %s\nrules:\n- {apiGroups: [\"\"], resources: [pods], verbs: [%s]}\n", g.name(), choose(g, "get", "list"))
	}
	return fmt.Sprintf("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata:\n  name: %s\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %s}\nsubjects:\n- {kind: Group, name: \"system:serviceaccounts\", apiGroup: rbac.authorization.k8s.io}\n", g.name(), g.name())
}

func (g *planGenerator) mutation() string {
	return fmt.Sprintf("apiVersion: admissionregistration.k8s.io/v1\nkind: %s\nmetadata:\n  name: %s\nwebhooks: []\n",
		choose(g, "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "MutatingAdmissionPolicy", "SomethingElse"), g.name())
}

// rule is a validation and its paramKind.
type rule struct{ expression, param string }

// matched is what a policy matches.
type matched struct{ groups, resources string }

func (g *planGenerator) policy() string {
	r := choose(g, rule{"object.metadata.name != 'x'", ""},
		rule{"has(namespaceObject.metadata.labels) && 'env' in namespaceObject.metadata.labels && namespaceObject.metadata.labels.env == 'prod'", ""},
		rule{"authorizer.group('').resource('pods').namespace('a').check('get').allowed()", ""},
		rule{"params.data.level == '1'", "{apiVersion: v1, kind: ConfigMap}"},
		rule{"params.data.level == '1'", "{apiVersion: v1, kind: ConfigMap}"},
		rule{"params.spec.level < 2", "{apiVersion: example.com/v1, kind: Widget}"},
		rule{"params.value < 5", "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass}"},
		rule{"!has(object.spec) || !has(object.spec.priority) || object.spec.priority < 5", ""},
		rule{"!has(object.spec) || !has(object.spec.containers) || object.spec.containers.all(c, has(c.resources) && has(c.resources.limits))", ""},
		rule{"!has(object.spec) || has(object.spec.storageClassName) || has(object.spec.ingressClassName) || has(object.spec.nodeSelector)", ""},
		rule{"!has(object.metadata.labels) || !('topology.kubernetes.io/zone' in object.metadata.labels)", ""},
		rule{"object.metadata.name !=", ""})
	param := ""
	if r.param != "" {
		param = "\n  paramKind: " + r.param
	}
	match := choose(g, matched{`"*"`, `"*"`}, matched{`"*"`, `"*"`}, matched{`"*"`, `"*/*"`}, matched{`"*"`, "pods"}, matched{`"*"`, "configmaps"},
		matched{`"*"`, "deployments, ingresses, persistentvolumeclaims"}, matched{`""`, "pods"}, matched{`""`, `"*"`}, matched{`""`, "configmaps"},
		matched{"apps", `"*"`}, matched{"apps", "replicasets"}, matched{`"", apps`, "pods, deployments"}, matched{"example.com", `"*"`},
		matched{"example.com", "widgets"}, matched{"networking.k8s.io", "ingresses"}, matched{"admissionregistration.k8s.io, rbac.authorization.k8s.io", `"*"`})
	return fmt.Sprintf(`apiVersion: admissionregistration.k8s.io/%s
kind: ValidatingAdmissionPolicy
metadata:
  name: %s
spec:%s
  failurePolicy: %s
  matchConstraints:%s
    resourceRules:
    - apiGroups: [%s]
      apiVersions: [%s]
      operations: ["*"]
      resources: [%s]
  validations:
  - expression: %q
`, choose(g, "v1", "v1", "v1beta1"), g.policyName(), param, choose(g, "Fail", "Ignore"), g.selector("    "), match.groups, choose(g, `"*"`, "v1"), match.resources, r.expression)
}

func (g *planGenerator) policyName() string { return choose(g, "p", "p", "q") }

func (g *planGenerator) selector(by string) string {
	if !g.oneIn(4) {
		return ""
	}
	return "\n" + by + "namespaceSelector: {matchLabels: {env: prod}}"
}

func (g *planGenerator) binding() string {
	param := ""
	if g.oneIn(2) {
		param = fmt.Sprintf("\n  paramRef: {%s, parameterNotFoundAction: %s}",
			choose(g, "name: limits", "name: my-limits", "name: x", "selector: {matchLabels: {role: param}}", "selector: {}", "name: limits, namespace: a"), choose(g, "Deny", "Allow"))
	}
	match := ""
	if s := g.selector("    "); s != "" {
		match = "\n  matchResources:" + s
	}
	return fmt.Sprintf("apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata:\n  name: %s\nspec:\n  policyName: %s\n  validationActions: [%s]%s%s\n",
		choose(g, "b", "c", "d"), g.policyName(), choose(g, "Deny", "Warn", "Audit"), param, match)
}
