package argocd

import (
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render"
)

// Annotations of hooks, those of Argo CD and those of Helm.
const (
	hookAnnotation     = "argocd.argoproj.io/hook"
	policyAnnotation   = "argocd.argoproj.io/hook-delete-policy"
	helmHook           = "helm.sh/hook"
	helmPolicy         = "helm.sh/hook-delete-policy"
	hookFinalizer      = "argocd.argoproj.io/hook-finalizer"
	beforeHookCreation = "BeforeHookCreation"
	hookSucceeded      = "HookSucceeded"
	hookFailed         = "HookFailed"
)

var (
	// phases are the hooks that a successful sync runs, failure the hook of a failed one.
	phases  = []string{"PreSync", "Sync", "PostSync"}
	failure = "SyncFail"
	skip    = "Skip"
	// deletions are the hooks that run when an Application is deleted, with Helm's names for them.
	deletions = map[string]string{"PreDelete": "pre-delete", "PostDelete": "post-delete"}
	// helmPhases maps the hooks of Helm that a sync runs to those of Argo CD.
	helmPhases = map[string]string{"pre-install": "PreSync", "pre-upgrade": "PreSync", "post-install": "PostSync", "post-upgrade": "PostSync"}
	// helmPolicies maps the deletion policies of Helm to those of Argo CD.
	helmPolicies = map[string]string{"before-hook-creation": beforeHookCreation, "hook-succeeded": hookSucceeded, "hook-failed": hookFailed}
)

// roleOf returns the role of an object in a sync, and a Hook if it is a hook (gitops-engine, pkg/sync/hook;
// controller/hook.go).
func roleOf(content map[string]any, own render.Role) (render.Role, *render.Hook) {
	annotations, _ := metadataOf(content)["annotations"].(map[string]any)
	argo, isArgo := annotations[hookAnnotation].(string)
	helm, isHelm := annotations[helmHook].(string)
	if !isArgo && (!isHelm || helm == "crd-install") {
		return own, nil
	}
	types := phasesOf(argo, helm)
	hook := hookOf(annotations)
	for _, name := range listed(argo) {
		hook.OnDeletion = hook.OnDeletion || deletions[name] != ""
	}
	for _, name := range deletions {
		hook.OnDeletion = hook.OnDeletion || slices.Contains(listed(helm), name)
	}
	if slices.ContainsFunc(types, func(t string) bool { return slices.Contains(phases, t) }) {
		return render.RoleHook, hook
	}
	return render.RoleIdleHook, hook
}

// phasesOf returns the phases of a sync in which a hook runs. Helm's annotation is ignored if Argo CD's has phases.
func phasesOf(argo, helm string) (types []string) {
	for _, name := range listed(argo) {
		if slices.Contains(phases, name) || name == failure || name == skip {
			types = append(types, name)
		}
	}
	if len(types) > 0 {
		return types
	}
	for _, name := range listed(helm) {
		if phase := helmPhases[name]; phase != "" {
			types = append(types, phase)
		}
	}
	return types
}

// hookOf returns the Hook for deletion policies in annotations.
func hookOf(annotations map[string]any) *render.Hook {
	var policies []string
	text, _ := annotations[policyAnnotation].(string)
	for _, policy := range listed(text) {
		if policy == beforeHookCreation || policy == hookSucceeded || policy == hookFailed {
			policies = append(policies, policy)
		}
	}
	text, _ = annotations[helmPolicy].(string)
	for _, policy := range listed(text) {
		if policy := helmPolicies[policy]; policy != "" {
			policies = append(policies, policy)
		}
	}
	replaced, removed := len(policies) == 0 || slices.Contains(policies, beforeHookCreation), slices.Contains(policies, hookSucceeded)
	return &render.Hook{Ran: true, Replaced: replaced, Removed: removed, Updated: !replaced && !removed, Finalizer: hookFinalizer}
}

// listed returns the comma-separated words of an annotation.
func listed(annotation string) (words []string) {
	for word := range strings.SplitSeq(annotation, ",") {
		words = append(words, strings.TrimSpace(word))
	}
	return words
}
