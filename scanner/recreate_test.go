package scanner_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/scanner/admission/apply"
)

const migration = `
-- app/job.yaml --
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, namespace: shop}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: m, image: "m:1"}]}
-- policies/rules.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: images}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [batch], apiVersions: [v1], operations: [CREATE], resources: [jobs]}]
  validations: [{expression: "object.spec.template.spec.containers[0].image != 'm:bad'", message: bad image}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: images}
spec: {policyName: images, validationActions: [Deny]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: protected}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [batch], apiVersions: [v1], operations: [DELETE], resources: [jobs]}]
  validations: [{expression: "!has(oldObject.metadata.labels) || !('keep' in oldObject.metadata.labels)", message: keep it}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: protected}
spec: {policyName: protected, validationActions: [Deny]}
`

// fluxCluster is a Flux cluster that applies the directory policies. More units may follow.
const fluxCluster = `
-- clusters/main/flux-system/gotk-sync.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: https://example.com/fleet.git, ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, path: ./clusters/main, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
-- clusters/main/units.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: policies, namespace: flux-system}
spec: {interval: 1m, path: ./policies, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
`

// asUnit applies migration with a Flux Kustomization.
const asUnit = migration + fluxCluster + `---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: app, namespace: flux-system}
spec: {interval: 1m, path: ./app, prune: true, force: true, sourceRef: {kind: GitRepository, name: flux-system}}
`

// asApplication applies migration with Applications of Argo CD.
const asApplication = migration + `
-- argocd/apps.yaml --
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: policies, namespace: argocd}
spec:
  project: default
  source: {repoURL: https://example.com/fleet.git, path: policies, targetRevision: HEAD}
  destination: {server: https://kubernetes.default.svc, namespace: shop}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: app, namespace: argocd}
spec:
  project: default
  source: {repoURL: https://example.com/fleet.git, path: app, targetRevision: HEAD}
  destination: {server: https://kubernetes.default.svc, namespace: shop}
  syncPolicy: {syncOptions: [OPTIONS]}
`

// bySet makes migration with a ResourceSet of flux-operator.
var bySet = strings.Replace(asUnit[strings.Index(asUnit, "-- policies"):], "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: app, namespace: flux-system}\nspec: {interval: 1m, path: ./app, prune: true, force: true, sourceRef: {kind: GitRepository, name: flux-system}}\n", `apiVersion: fluxcd.controlplane.io/v1
kind: ResourceSet
metadata: {name: app, namespace: flux-system}
spec:
  resources:
  - apiVersion: batch/v1
    kind: Job
    metadata: {name: migrate, namespace: shop}
    spec:
      template:
        spec: {restartPolicy: Never, containers: [{name: m, image: "m:1"}]}
`, 1)

// TestRecreated checks that an update which the server refuses because of an immutable field is a DELETE and a
// CREATE if the tool is configured to force it.
func TestRecreated(t *testing.T) {
	with := func(metadata string) string {
		return strings.Replace(migration, "namespace: shop}", "namespace: shop, "+metadata+"}", 1)
	}
	const force = `annotations: {kustomize.toolkit.fluxcd.io/force: "Enabled"}`
	sync := func(options string) string {
		return `annotations: {argocd.argoproj.io/sync-options: "` + options + `"}`
	}
	application := func(options string) string { return strings.Replace(asApplication, "OPTIONS", options, 1) }
	const refused = "UPDATE field is immutable"
	for name, test := range map[string]struct {
		base  string
		image string
		by    apply.Applier
		want  []string
	}{
		"nobody forces it":               {base: migration, want: []string{refused}},
		"by an annotation":               {base: with(force)},
		"by a label":                     {base: with(`labels: {kustomize.toolkit.fluxcd.io/force: enabled}`)},
		"an annotation for another tool": {base: with(force), by: apply.ArgoCD, want: []string{refused}},
		"it says no":                     {base: with(strings.Replace(force, "Enabled", "disabled", 1)), want: []string{refused}},
		"what is created is judged":      {base: with(force), image: "m:bad", want: []string{"CREATE bad image"}},
		"what is deleted is judged":      {base: with(force + ", labels: {keep: me}"), want: []string{"DELETE keep it"}},
		"by the Kustomization":           {base: asUnit},
		"not by the Kustomization":       {base: strings.Replace(asUnit, "force: true", "force: false", 1), want: []string{refused}},
		"not by the ResourceSet":         {base: bySet, want: []string{refused}},
		"by the ResourceSet":             {base: strings.Replace(bySet, "name: app,", "name: app, annotations: {fluxcd.controlplane.io/force: Enabled},", 1)},
		"by an object of a ResourceSet":  {base: strings.Replace(bySet, "namespace: shop}", "namespace: shop, annotations: {fluxcd.controlplane.io/force: enabled}}", 1)},
		"a ResourceSet does not heed kustomize-controller": {
			base: strings.Replace(bySet, "namespace: shop}", "namespace: shop, "+force+"}", 1), want: []string{refused},
		},
		"kustomize-controller does not heed flux-operator": {
			base: strings.Replace(strings.Replace(asUnit, "force: true", "force: false", 1), "namespace: shop}", "namespace: shop, annotations: {fluxcd.controlplane.io/force: enabled}}", 1), want: []string{refused},
		},
		"Argo CD replaces by force":            {base: with(sync("Replace=true, Force=true")), image: "m:bad", by: apply.ArgoCD, want: []string{"CREATE bad image"}},
		"Argo CD applies by force":             {base: with(sync("Force=true")), by: apply.ArgoCD},
		"Argo CD replaces":                     {base: with(sync("Replace=true")), by: apply.ArgoCDSSA, want: []string{"UPDATE Required value"}},
		"nobody says which tool it is":         {base: with(sync("Replace=true,Force=true")), image: "m:bad", want: []string{"CREATE bad image"}},
		"an Application":                       {base: application(""), want: []string{refused}},
		"an Application that applies by force": {base: application("Force=true")},
		"an Application that replaces by force": {
			base: application("Replace=true, Force=true"), image: "m:bad", want: []string{"CREATE bad image"},
		},
		"to which an object cannot say no": {
			base: strings.Replace(application("Force=true"), "namespace: shop}", "namespace: shop, "+sync("Force=false")+"}", 1),
		},
		"an Application does not heed Flux": {
			base: strings.Replace(application(""), "namespace: shop}", "namespace: shop, "+force+"}", 1), want: []string{refused},
		},
		"options that Flux ignores": {base: with(sync("Replace=true,Force=true")), by: apply.Flux, want: []string{refused}},
	} {
		image := test.image
		if image == "" {
			image = "m:2"
		}
		in := input(test.base, strings.Replace(test.base, "m:1", image, 1))
		in.Config.Applier = string(test.by)
		in.Config.Workloads = new(bool)
		var got []string
		r := mustScan(t, in)
		for _, f := range r.Findings {
			message := f.Message
			for _, part := range []string{"Required value", "field is immutable"} {
				if strings.Contains(message, part) {
					message = part
				}
			}
			got = append(got, f.Operation+" "+message)
		}
		if !slices.Equal(got, test.want) || len(r.Indeterminate) > 0 {
			t.Errorf("%s: %q, want %q; not judged: %v", name, got, test.want, r.Indeterminate)
		}
	}
}

// TestRecreatedForPolicies checks that tools treat a denial by a policy that sets no reason as the refusal of a
// change of an immutable field, and Flux any message that something is immutable.
func TestRecreatedForPolicies(t *testing.T) {
	const kept = `
-- app/settings.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: shop
  annotations: {ANNOTATION}
data: {mode: "1"}
-- policies/kept.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: kept}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [UPDATE], resources: [configmaps]}]
  validations: [{expression: "object.data == oldObject.data", VALIDATION}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: kept}
spec: {policyName: kept, validationActions: [Deny]}
`
	const flux, argo = "kustomize.toolkit.fluxcd.io/force: enabled", "argocd.argoproj.io/sync-options: Force=true"
	for _, test := range []struct {
		by                     apply.Applier
		annotation, validation string
		want                   []string
	}{
		{apply.Flux, flux, "message: keep it", nil},
		{apply.Flux, "a: b", "message: keep it", []string{"UPDATE keep it"}},
		{apply.Flux, flux, "message: keep it, reason: Forbidden", []string{"UPDATE keep it"}},
		{apply.Flux, flux, "message: it is immutable, reason: Forbidden", nil},
		{apply.ArgoCD, argo, "message: keep it", nil},
		{apply.ArgoCD, argo, "message: it is immutable, reason: Forbidden", []string{"UPDATE it is immutable"}},
		{apply.ArgoCDSSA, argo, "message: keep it", []string{"UPDATE keep it"}},
	} {
		tree := strings.NewReplacer("ANNOTATION", test.annotation, "VALIDATION", test.validation).Replace(kept)
		in := input(tree, strings.Replace(tree, `"1"`, `"2"`, 1))
		in.Config.Applier = string(test.by)
		var got []string
		for _, f := range mustScan(t, in).Findings {
			got = append(got, f.Operation+" "+f.Message)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s, %s, %s: %q, want %q", test.by, test.annotation, test.validation, got, test.want)
		}
	}
}

// TestRecreatedBySome checks that an update is judged as well where a tool recreates the object only after some of
// the refusals: those by the policies in force, by the proposed ones, or by one of several policies.
func TestRecreatedBySome(t *testing.T) {
	const settings = `
-- app/settings.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop, annotations: {argocd.argoproj.io/sync-options: "Force=true"}}
data: {mode: "1"}
extra: a
`
	const kept = `
-- policies/NAME.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: NAME}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [UPDATE], resources: [configmaps]}]
  validations: [VALIDATIONS]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: NAME}
spec: {policyName: NAME, validationActions: [Deny]}
`
	const extra = `CREATE unknown field "extra" existing`
	const holds = `{expression: "true"}`
	const warns = "warn: "
	const open = `{expression: "authorizer.group('').resource('pods').check('get').allowed()", message: open, reason: Forbidden}`
	const openInvalid = `{expression: "authorizer.group('').resource('pods').check('get').allowed()", message: open}`
	const invalid = `{expression: "object.data == oldObject.data", message: keep it}`
	const forbidden = `{expression: "object.data == oldObject.data", message: never, reason: Forbidden}`
	for _, test := range []struct {
		base, head string
		want       []string
	}{
		{invalid, invalid, []string{extra}},
		{invalid, holds, []string{extra}},
		{holds, invalid, []string{extra}},
		{forbidden, forbidden, []string{"UPDATE never inForce new", `UPDATE unknown field "extra" existing`}},
		{invalid, forbidden, []string{"UPDATE never proposed new", extra}},
		{forbidden, invalid, []string{"UPDATE never inForce new", extra}},
		{invalid + ", " + forbidden, invalid + ", " + forbidden, []string{extra}},
		{invalid + "; " + forbidden, invalid + "; " + forbidden, []string{"UPDATE never inForce new", extra}},
		{forbidden + ", " + invalid, forbidden + ", " + invalid, []string{"UPDATE never inForce new", "UPDATE keep it inForce new", `UPDATE unknown field "extra" existing`}},
		{invalid, warns + invalid, []string{"UPDATE keep it proposed new", extra}},
		{warns + invalid, invalid, []string{"UPDATE keep it inForce new", extra}},
		{invalid + "; " + open, invalid + "; " + open, []string{extra, "indeterminate"}},
		{invalid + "; " + openInvalid, invalid + "; " + openInvalid, []string{extra}},
	} {
		tree := func(validations, mode string) string {
			text := strings.ReplaceAll(settings, `"1"`, mode)
			validations, warn := strings.CutPrefix(validations, warns)
			for i, of := range strings.Split(validations, "; ") {
				text += strings.NewReplacer("VALIDATIONS", of, "NAME", "kept"+strconv.Itoa(i)).Replace(kept)
			}
			if warn {
				text = strings.ReplaceAll(text, "[Deny]", "[Warn]")
			}
			return text
		}
		in := input(tree(test.base, `"1"`), tree(test.head, `"2"`))
		in.Config.Applier = string(apply.ArgoCD)
		r := mustScan(t, in)
		var got []string
		for _, f := range r.Findings {
			got = append(got, strings.Join(strings.Fields(f.Operation+" "+f.Message+" "+string(f.Policies)+" "+string(f.Status)), " "))
		}
		for range r.Indeterminate {
			got = append(got, "indeterminate")
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s, then %s: %q, want %q", test.base, test.head, got, test.want)
		}
	}
}

// TestJobMayBeGone checks that the verdict on an update of a Job is indeterminate if the cluster deletes finished
// Jobs, and that the creation is judged.
func TestJobMayBeGone(t *testing.T) {
	expiring := strings.Replace(migration, "spec:\n  template:", "spec:\n  ttlSecondsAfterFinished: 60\n  template:", 1)
	for image, want := range map[string][]string{"m:1": nil, "m:2": {"is immutable"}, "m:bad": {"is immutable", "CREATE bad image"}} {
		in := input(expiring, strings.Replace(expiring, "m:1", image, 1))
		in.Config.Workloads = new(bool)
		r := mustScan(t, in)
		var got []string
		for _, i := range r.Indeterminate {
			if strings.Contains(i.Why, "is immutable") && strings.Contains(i.Why, "ttlSecondsAfterFinished") {
				got = append(got, "is immutable")
			}
		}
		for _, f := range r.Findings {
			got = append(got, f.Operation+" "+f.Message)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", image, got, want)
		}
	}
}

// TestReplacedIsCreated checks that Argo CD creates replaced objects without the last-applied-configuration
// annotation, for which large objects have no space.
func TestReplacedIsCreated(t *testing.T) {
	large := "-- app/a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: shop\n  annotations: {argocd.argoproj.io/sync-options: OPTIONS}\ndata: {a: " + strings.Repeat("x", 300_000) + "}\n"
	for options, want := range map[string]int{"Replace=true": 0, "Replace=false": 1, "Force=true": 1, "ServerSideApply=true": 0} {
		in := input("", strings.Replace(large, "OPTIONS", options, 1))
		in.Config.Applier = string(apply.ArgoCD)
		if r := mustScan(t, in); len(r.Findings) != want {
			t.Errorf("%s: %d findings, want %d", options, len(r.Findings), want)
		}
	}
	// The option before the change counts too.
	was := strings.Replace(large, "OPTIONS", "Replace=true", 1)
	in := input(was, strings.Replace(was, "Replace=true", "Prune=false", 1))
	in.Config.Applier = string(apply.ArgoCD)
	if r := mustScan(t, in); len(r.Findings) != 0 {
		t.Errorf("an object that was replaced: %v", r.Findings)
	}
}
