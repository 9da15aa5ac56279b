package admission

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission/unknown"
)

// variables returns the fields of content in which a deployer substitutes variables.
func variables(value any, path ...string) (fields []render.Unknown) {
	switch v := value.(type) {
	case string:
		if strings.Contains(v, "${") {
			return []render.Unknown{{Path: append([]string(nil), path...), Reason: "it is substituted"}}
		}
	case map[string]any:
		for key, item := range v {
			fields = append(fields, variables(item, append(path, key)...)...)
		}
	case []any:
		for i, item := range v {
			fields = append(fields, variables(item, append(path, strconv.Itoa(i))...)...)
		}
	}
	return fields
}

// claiming returns a StatefulSet with a claim template, and volumes.
func claiming(volumes string) string {
	return "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {selector: {matchLabels: {app: db}}, template: {metadata: {labels: {app: db}}, spec: {containers: [{name: c, image: i}], volumes: [" + volumes + "]}}, volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]}}"
}

// pod returns a Pod with a spec.
func pod(spec string) string {
	return "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {" + spec + "}}"
}

const workload = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: w}, spec: {selector: {matchLabels: {app: w}}, template: {metadata: {labels: {app: w}}, spec: {ACCOUNT, containers: [{name: c, image: i}]}}}}"

const oneContainer = "containers: [{name: c, image: i}]"

// TestRefusalsOfUnknownValues: unknown values are taken to be valid, wherever validation counts them.
// Mistakes in other values are refused.
func TestRefusalsOfUnknownValues(t *testing.T) {
	widget := func(spec string) string {
		return "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com}, spec: {scope: Namespaced, " + spec + "}}"
	}
	service := func(spec string) string {
		return "{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {ports: [{port: 80}], " + spec + "}}"
	}
	secret := func(kind, data string) string {
		return "{apiVersion: v1, kind: Secret, metadata: {name: s}, type: kubernetes.io/" + kind + ", stringData: {" + data + "}}"
	}
	scaler := func(spec string) string {
		return "{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {name: w}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: w}, maxReplicas: 3, " + spec + "}}"
	}
	for name, test := range map[string]struct{ object, refused string }{
		"a volume after claims":          {claiming("{name: a, emptyDir: {}}, {name: b, downwardAPI: {items: [{path: p, fieldRef: {fieldPath: 'metadata.${X}'}}]}}"), ""},
		"a volume beside one":            {claiming("{name: a, hostPath: {path: ../x}}, {name: b, hostPath: {path: '${X}'}}"), "volumes[1].hostPath.path"},
		"a name of a claim":              {strings.Replace(claiming(""), "name: data", "name: '${X}_A'", 1), ""},
		"a path in a volume":             {claiming("{name: a, hostPath: {path: '../${X}'}}"), ""},
		"a type in a schema":             {widget("group: example.com, names: {plural: widgets, kind: Widget}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: 'ar${X}'}}}}}]"), ""},
		"a printed column":               {widget("group: example.com, names: {plural: widgets, kind: Widget}, versions: [{name: v1, served: true, storage: true, additionalPrinterColumns: [{name: a, jsonPath: 'x${X}', type: string}], schema: {openAPIV3Schema: {type: object}}}]"), ""},
		"all versions":                   {widget("group: example.com, names: {plural: widgets, kind: Widget}, versions: '${X}'"), "depends on spec.versions"},
		"all names":                      {widget("group: example.com, names: '${X}', versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]"), "depends on spec.names"},
		"a group":                        {widget("group: '${X}', names: {plural: widgets, kind: Widget}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]"), ""},
		"a plural name":                  {widget("group: example.com, names: {plural: '${X}', kind: Widget}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]"), ""},
		"processor time":                 {scaler("targetCPUUtilizationPercentage: '${X}'"), ""},
		"a metric in an annotation":      {strings.Replace(scaler("minReplicas: 1"), "name: w}", "name: w, annotations: {autoscaling.alpha.kubernetes.io/metrics: '[{\"type\": \"Resource${X}\"}]'}}", 1), ""},
		"hostPID":                        {pod("hostPID: '${X}', shareProcessNamespace: true, " + oneContainer), ""},
		"an account":                     {pod("serviceAccountName: '${X}', " + oneContainer), "serviceAccountName, which is not known: it is substituted"},
		"an old account":                 {strings.Replace(workload, "ACCOUNT", "serviceAccount: 'A${X}_'", 1), ""},
		"an address":                     {service("clusterIP: '10.0.0.${X}'"), "depends on spec.clusterIP"},
		"a source range":                 {service("type: LoadBalancer, loadBalancerSourceRanges: ['${X}/8']"), ""},
		"a target portal":                {pod(oneContainer + ", volumes: [{name: a, iscsi: {targetPortal: '1.2.3.4', iqn: 'iqn.2001-04.com.example:a', lun: 0, initiatorName: 'x${X}'}}]"), ""},
		"registries":                     {secret("dockerconfigjson", ".dockerconfigjson: '{\"auths\": ${X}}'"), ""},
		"registries in data":             {strings.Replace(secret("dockerconfigjson", ".dockerconfigjson: '{\"auths\": ${X}}'"), "stringData", "data", 1), ""},
		"a label":                        {"{apiVersion: v1, kind: ConfigMap, metadata: {name: c, labels: {a: '${X}-a-text-that-would-be-too-long-with-all-but-short-values-1'}}}", ""},
		"a node's label":                 {pod("nodeSelector: {a: '${X}-a-text-that-would-be-too-long-with-all-but-short-values-1'}, " + oneContainer), ""},
		"a volume that is mounted":       {pod("containers: [{name: c, image: i, env: [" + env(40) + "], volumeMounts: [{name: data, mountPath: /a}]}], volumes: [{name: '${X}', emptyDir: {}}]"), ""},
		"a volume that is not mounted":   {strings.Replace(pod("containers: [{name: c, image: i, volumeMounts: [{name: data, mountPath: /a}]}]"), "name: p", "name: p, annotations: {a: '${X}'}", 1), "volumeMounts[0].name"},
		"privileges":                     {strings.Replace(pod("hostPID: true, "+oneContainer), "image: i", "image: '${X}'", 1), ""},
		"a mode of several":              {"{apiVersion: example.com/v1, kind: Part, metadata: {name: w}, spec: {mode: 'X${X}', size: 1}}", ""},
		"a size that a rule refuses":     {"{apiVersion: example.com/v1, kind: Part, metadata: {name: w}, spec: {other: {mode: 'X${X}'}, size: 9}}", "size is small"},
		"a mode that is none":            {"{apiVersion: example.com/v1, kind: Part, metadata: {name: w}, spec: {mode: 'Y${X}', size: 1}}", "depends on"},
		"capabilities":                   {"{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: strict}, spec: {securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}, containers: [{name: c, image: i, securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: ['${X}']}}}]}}", "depends on"},
		"all capabilities":               {"{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: strict}, spec: {securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}, containers: [{name: c, image: i, securityContext: {allowPrivilegeEscalation: false, capabilities: '${X}'}}]}}", "depends on"},
		"a container":                    {"{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: strict}, spec: {securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}, containers: ['${X}']}}", "depends on"},
		"labels of what is forbidden":    {"{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: strict, labels: '${X}'}, spec: {securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}, containers: [{name: c, image: i}]}}", "violates PodSecurity"},
		"the container of an annotation": {"{apiVersion: v1, kind: Pod, metadata: {name: p, annotations: {container.apparmor.security.beta.kubernetes.io/web: runtime/default}}, spec: {containers: [{name: '${X}', image: i}]}}", ""},
		"one of several schemas":         {"{apiVersion: example.com/v1, kind: Gadget, metadata: {name: w}, spec: {mode: '${X}'}}", "depends on"},
		"one of several schemas below":   {"{apiVersion: example.com/v1, kind: Gadget, metadata: {name: w}, spec: {mode: a, size: '${X}'}}", ""},
		"labels that select":             {"{apiVersion: v1, kind: ReplicationController, metadata: {name: r}, spec: {template: {metadata: {labels: '${X}'}, spec: {" + oneContainer + "}}}}", "depends on spec.template.metadata.labels"},
		"a variable that is read":        {"{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: q.x}, spec: {matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}, variables: [{name: '${X}', expression: '1'}], validations: [{expression: 'variables.a == 1'}]}}", "depends on spec.variables[0].name"},
		"none of several schemas":        {"{apiVersion: example.com/v1, kind: Gadget, metadata: {name: w, annotations: {a: '${X}'}}, spec: {mode: c}}", "oneOf"},
	} {
		t.Run(name, func(t *testing.T) {
			o := object(t, test.object)
			o.Unknown = variables(o.Content())
			_, _, err := open(t, gadgets, parts, strictNamespace).Prepare(t.Context(), ask("CREATE", o, nil))
			var depends *unknown.Error
			switch {
			case test.refused == "" && err != nil:
				t.Errorf("not accepted (depends on unknown: %v): %v", errors.As(err, &depends), err)
			case test.refused != "" && (err == nil || !strings.Contains(err.Error(), test.refused)):
				t.Errorf("not refused for %s: %v", test.refused, err)
			}
		})
	}
}

func env(n int) string {
	var all []string
	for i := range n {
		all = append(all, "{name: N"+strconv.Itoa(i)+", value: v"+strconv.Itoa(i)+"}")
	}
	return strings.Join(all, ", ")
}

const gadgets = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: gadgets.example.com}, spec: {group: example.com, scope: Namespaced, names: {plural: gadgets, kind: Gadget}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {text: {type: string}, spec: {type: object, properties: {mode: {type: string}, size: {type: string}}, oneOf: [{properties: {mode: {enum: [a]}, size: {enum: [s]}}}, {properties: {mode: {enum: [b]}}}]}}}}}]}}`

const parts = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: parts.example.com}, spec: {group: example.com, scope: Namespaced, names: {plural: parts, kind: Part}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {mode: {type: string, enum: [XA, XB]}, size: {type: integer, x-kubernetes-validations: [{rule: self < 5, message: size is small}]}, other: {type: object, properties: {mode: {type: string, enum: [XA, XB]}}}}}}}}}]}}`

const strictNamespace = `{apiVersion: v1, kind: Namespace, metadata: {name: strict, labels: {pod-security.kubernetes.io/enforce: restricted}}}`

// TestUnknownAddress: values that a server derives from an unknown one are unknown too.
func TestUnknownAddress(t *testing.T) {
	o := object(t, "{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {ports: [{port: 80}], clusterIP: '${X}'}}")
	o.Unknown = variables(o.Content())
	r, _, err := open(t).Prepare(t.Context(), ask("CREATE", o, nil))
	if err != nil {
		t.Fatal(err)
	}
	v, err := r.Version(r.GetKind())
	if err != nil {
		t.Fatal(err)
	}
	known, _ := v.KnownObject.(map[string]any)
	spec, _ := known["spec"].(map[string]any)
	addresses, _ := spec["clusterIPs"].([]any)
	_, whole := spec["clusterIPs"].(unknown.Value)
	if !whole && (len(addresses) != 1 || len(unknown.Fields(map[string]any{"0": addresses[0]})) != 1) {
		t.Errorf("spec.clusterIPs is known: %v", spec["clusterIPs"])
	}
}
