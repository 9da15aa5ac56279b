package flux_test

import (
	"context"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/flux"
	"github.com/preadmit/preadmit/render/tree"
)

const lackingFiles = `
-- apps/deployment.yaml --
apiVersion: apps/v1
kind: Deployment
metadata:
  name: a
spec:
  template:
    spec:
      serviceAccountName: theirs
      containers:
      - name: a
        image: a:1
        args: ["--ip=$(POD_IP)"]
        envFrom:
        - configMapRef:
            name: ours
        - configMapRef:
            name: theirs
-- apps/ours.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: ours
-- apps/binding.yaml --
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: a
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: a}
subjects:
- kind: ServiceAccount
  name: theirs
  namespace: shop
- kind: ServiceAccount
  name: theirs
  namespace: elsewhere
-- apps/base/kustomization.yaml --
resources:
- REMOTE
- ../deployment.yaml
- ../ours.yaml
- ../binding.yaml
-- apps/image.yaml --
nameReference: [{kind: ConfigMap, fieldSpecs: [{path: 'spec/template/spec/containers[]/image', kind: Deployment}]}]
-- apps/role.yaml --
nameReference: [{kind: ConfigMap, fieldSpecs: [{path: roleRef, kind: RoleBinding}]}]
-- apps/annotations.yaml --
nameReference: [{kind: ConfigMap, fieldSpecs: [{path: metadata/annotations/a}]}]
-- apps/kustomization.yaml --
resources:
- base
`

// TestLacking renders units without remote resources, and checks what may depend on them.
func TestLacking(t *testing.T) {
	const (
		file  = "https://example.com/theirs.yaml"
		base  = "https://github.com/example/theirs//deploy?ref=v1"
		names = "spec.template.spec.serviceAccountName spec.template.spec.containers.0.envFrom.1.configMapRef.name "
		vars  = "spec.template.spec.containers.0.args.0 "
		binds = "roleRef.name subjects.0.name subjects.0.namespace subjects.1.name subjects.1.namespace "
		subs  = "patches:\n- patch: |\n    {apiVersion: apps/v1, kind: Deployment, metadata: {name: theirs}, spec: {replicas: 2}}\n"
		gone  = "patches:\n- patch: |\n    {apiVersion: v1, kind: Service, metadata: {name: theirs}, $patch: delete}\n"
	)
	for name, c := range map[string]struct{ remote, spec, more, unknown, problem string }{
		"file":             {remote: file},
		"prefix":           {remote: file, spec: "  namePrefix: my-\n", unknown: binds + names},
		"namespace":        {remote: file, spec: "  targetNamespace: shop\n", unknown: "subjects.1.namespace "},
		"base":             {remote: base, unknown: binds + vars + names},
		"patch of theirs":  {remote: file, more: subs},
		"theirs deleted":   {remote: file, more: gone},
		"replicas":         {remote: file, more: "replicas: [{name: theirs, count: 2}]\n"},
		"patch of nothing": {remote: "../ours2.yaml", more: subs, problem: "no such file"},
		"replaced":         {remote: file, more: strings.Replace(subs, "spec: {replicas: 2}", "$patch: replace", 1)},
		"vars":             {remote: file, more: "vars: [{name: V, objref: {apiVersion: v1, kind: ConfigMap, name: ours}}]\n", problem: "not fetched"},
		"configured":       {remote: base, more: "configurations: [image.yaml, role.yaml]\n", unknown: binds + vars + names + "spec.template.spec.containers.0.image "},
		"in metadata":      {remote: base, more: "configurations: [annotations.yaml]\n", problem: "not fetched"},
		"of no names":      {remote: file, more: "configurations: [image.yaml, annotations.yaml]\n"},
		"no configuration": {remote: base, more: "configurations: [deployment.yaml, none.yaml]\n", problem: "not"},
		"openapi":          {remote: file, more: "openapi: {path: schema.json}\n", problem: "not fetched"},
		"merged": {remote: file, more: "configMapGenerator: [{name: theirs, behavior: merge, literals: [a=b]}]\n",
			problem: "not fetched"},
		"component": {remote: file, more: "components: ['https://github.com/example/c']\n", problem: "not fetched"},
		"json patch": {remote: file, more: "patches: [{path: 'https://example.com/patch.yaml', target: {kind: Deployment}}]\n",
			problem: "not fetched"},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := files(t, strings.ReplaceAll(lackingFiles, "REMOTE", c.remote))
			fsys["apps/kustomization.yaml"].Data = append(fsys["apps/kustomization.yaml"].Data, c.more...)
			root := unitOf(t, "apps", c.spec)
			r := flux.New(tree.New(fsys, tree.Limits{}), render.Options{}).Render(context.Background(), root)
			if c.problem != "" {
				if r.Problem == nil || r.Lacks != nil || c.problem == "not fetched" && !strings.Contains(r.Problem.Message, c.problem) {
					t.Fatalf("%v, lacks %v", r.Problem, r.Lacks)
				}
				return
			}
			if r.Problem != nil || r.Lacks == nil || len(r.Objects) != 3 {
				t.Fatalf("%s\nlacks %v", rendered(r), r.Lacks)
			}
			if at := r.Lacks.String(); at != "apps/base/kustomization.yaml:2:3" || !strings.Contains(r.Lacks.Why, c.remote) {
				t.Errorf("%s: %s", at, r.Lacks.Why)
			}
			got := map[string]bool{}
			for _, o := range r.Objects {
				for _, u := range o.Unknown {
					got[strings.Join(u.Path, ".")] = true
				}
			}
			for path := range strings.FieldsSeq(c.unknown) {
				if !got[path] {
					t.Errorf("%s is known", path)
				}
				delete(got, path)
			}
			if len(got) > 0 {
				t.Errorf("unknown: %v", got)
			}
		})
	}
}
