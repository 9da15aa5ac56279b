package apply

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// Applier is a tool that applies manifests. The zero value sends objects as they are, as a
// POST or a PUT.
type Applier string

const (
	// Flux applies on the server by force, after normalising the manifest.
	Flux Applier = "flux"
	// ArgoCD merges as kubectl does.
	ArgoCD Applier = "argocd"
	// ArgoCDSSA applies on the server by force (ServerSideApply=true).
	ArgoCDSSA Applier = "argocd-ssa"
	// Kubectl merges three ways: what was last applied, the manifest and the object.
	Kubectl Applier = "kubectl"
	// KubectlSSA applies on the server, without force.
	KubectlSSA Applier = "kubectl-ssa"
	// Replace replaces the object.
	Replace Applier = "replace"
	// LenientReplace replaces the object as Argo CD does (Replace=true), which has the server warn
	// of unknown fields. No configuration names it.
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

// User is the user of requests where nothing sets one: the service account of a deployer, a person with
// kubectl.
func (a Applier) User() string {
	switch a {
	case ArgoCD, ArgoCDSSA:
		return "system:serviceaccount:argocd:argocd-application-controller"
	case Kubectl, KubectlSSA, Replace:
		return "admin"
	}
	return "system:serviceaccount:flux-system:kustomize-controller"
}

// ServerSide reports whether the server merges.
func (a Applier) ServerSide() bool { return a == Flux || a == ArgoCDSSA || a == KubectlSSA }

// Merges reports whether the tool merges itself, three ways.
func (a Applier) Merges() bool { return a == ArgoCD || a == Kubectl }

// Replaces reports whether the tool replaces the object.
func (a Applier) Replaces() bool { return a == Replace || a == LenientReplace }

// Manager is the tool's name as a manager of fields.
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

// Validation is the fieldValidation that the tool asks for; empty for the server's own.
func (a Applier) Validation() string {
	switch a {
	case ArgoCD:
		return "Warn"
	case Kubectl, KubectlSSA, Replace:
		return "Strict"
	}
	return ""
}

// Manifest returns what the tool sends of a manifest that it applies on the server. The content itself is not modified.
func (a Applier) Manifest(content map[string]any) map[string]any {
	if a == Flux {
		return Normalized(content)
	}
	return runtime.DeepCopyJSON(content)
}

// Sends returns how many bytes a request has that applies a manifest; none for an update that a
// tool merges, of which a Merge knows.
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
