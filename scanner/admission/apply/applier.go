package apply

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// Applier is a tool that applies manifests. The zero value sends objects unchanged, in a POST or a
// PUT.
type Applier string

const (
	// Flux uses forced server-side apply, after normalizing the manifest.
	Flux Applier = "flux"
	// ArgoCD merges like kubectl.
	ArgoCD Applier = "argocd"
	// ArgoCDSSA uses forced server-side apply (ServerSideApply=true).
	ArgoCDSSA Applier = "argocd-ssa"
	// Kubectl makes a three-way merge of the last applied manifest, the manifest and the object.
	Kubectl Applier = "kubectl"
	// KubectlSSA uses server-side apply, without force.
	KubectlSSA Applier = "kubectl-ssa"
	// Replace replaces the object.
	Replace Applier = "replace"
	// LenientReplace replaces the object as Argo CD does (Replace=true): the server only warns of
	// unknown fields. No configuration names it.
	LenientReplace Applier = "lenient-replace"
)

// Appliers returns the names of all appliers.
func Appliers() []string {
	return []string{string(Flux), string(ArgoCD), string(ArgoCDSSA), string(Kubectl), string(KubectlSSA), string(Replace)}
}

// Parse returns the applier of a name.
func Parse(name string) (Applier, error) {
	for _, known := range Appliers() {
		if name == known {
			return Applier(name), nil
		}
	}
	return "", fmt.Errorf("%q: want one of %s", name, strings.Join(Appliers(), ", "))
}

// User returns the user of requests if none is configured: the service account of a deployer, or a person
// with kubectl.
func (a Applier) User() string {
	switch a {
	case ArgoCD, ArgoCDSSA:
		return "system:serviceaccount:argocd:argocd-application-controller"
	case Kubectl, KubectlSSA, Replace:
		return "admin"
	}
	return "system:serviceaccount:flux-system:kustomize-controller"
}

// ServerSide reports whether the tool uses server-side apply.
func (a Applier) ServerSide() bool { return a == Flux || a == ArgoCDSSA || a == KubectlSSA }

// Merges reports whether the tool itself makes a three-way merge.
func (a Applier) Merges() bool { return a == ArgoCD || a == Kubectl }

// Replaces reports whether the tool replaces the object.
func (a Applier) Replaces() bool { return a == Replace || a == LenientReplace }

// Manager returns the tool's field manager.
func (a Applier) Manager() string {
	switch a {
	case Flux:
		return "kustomize-controller"
	case ArgoCD, ArgoCDSSA:
		return "argocd-controller"
	case Kubectl:
		return "kubectl-client-side-apply"
	case KubectlSSA:
		return "kubectl"
	case Replace, LenientReplace:
		return "kubectl-replace"
	}
	return ""
}

// Forces reports whether the tool takes fields from other managers.
func (a Applier) Forces() bool { return a == Flux || a == ArgoCDSSA }

// Validation returns the fieldValidation that the tool requests; empty for the server's default.
func (a Applier) Validation() string {
	switch a {
	case ArgoCD:
		return "Warn"
	case Kubectl, KubectlSSA, Replace:
		return "Strict"
	}
	return ""
}

// Manifest returns a copy of a manifest as the tool sends it for server-side apply.
func (a Applier) Manifest(content map[string]any) map[string]any {
	if a == Flux {
		return Normalized(content)
	}
	return runtime.DeepCopyJSON(content)
}

// Sends returns the size of the request that applies a manifest, in bytes; 0 for an update that a
// tool merges, since a Merge checks the size of its patch.
func (a Applier) Sends(manifest map[string]any, update bool) (bytes int, err error) {
	switch {
	case a.Merges() && update:
		return 0, nil
	case !a.ServerSide():
		manifest, err = a.Sent(manifest)
	case a == Flux:
		manifest = Normalized(manifest)
	}
	if err != nil {
		return 0, err
	}
	text, err := json.Marshal(manifest)
	if err != nil {
		return 0, fmt.Errorf("encode what is sent: %w", err)
	}
	return len(text), nil
}
