package argocd

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/preadmit/preadmit/render"
)

// resourcesFinalizer is the finalizer of an Application whose objects are deleted with it.
const resourcesFinalizer = "resources-finalizer.argocd.argoproj.io"

// skipReconcile is the annotation of an Application that the controller does not process.
const skipReconcile = "argocd.argoproj.io/skip-reconcile"

// Apply returns how the application controller of an Argo CD in a namespace applies the Application, without the
// ignored fields.
func (a *Application) Apply(namespace string) render.Apply {
	out := render.Apply{
		DeletionPolicy: "Orphan",
		User:           fmt.Sprintf("system:serviceaccount:%s:argocd-application-controller", namespace),
	}
	out.Suspended, _ = strconv.ParseBool(a.Metadata.Annotations[skipReconcile])
	for _, f := range a.Metadata.Finalizers {
		if f == resourcesFinalizer || strings.HasPrefix(f, resourcesFinalizer+"/") {
			out.DeletionPolicy = "Delete"
		}
	}
	if p := a.Spec.SyncPolicy; p != nil {
		out.SyncOptions = p.SyncOptions
		if p.Automated != nil && (p.Automated.Enabled == nil || *p.Automated.Enabled) {
			out.Prune = p.Automated.Prune && !a.Spec.HasOption("Prune=false")
		}
	}
	return out
}
