package argocd

import (
	"cmp"
	"fmt"
	"strings"
)

// The label and annotations that mark an object as one of an Application.
const (
	instanceLabel      = "app.kubernetes.io/instance"
	trackingAnnotation = "argocd.argoproj.io/tracking-id"
	// installationAnnotation is set in addition if Argo CD has an installationID.
	installationAnnotation = "argocd.argoproj.io/installation-id"
	// longestLabel is the maximum length of a label value.
	longestLabel = 63
)

// track marks an object as one of the Application. CustomResourceDefinitions are not marked: other Applications use
// them as well.
func (u *unit) track(content map[string]any) {
	group, _, kind := groupKindOf(content)
	if kind == "CustomResourceDefinition" {
		return
	}
	application := u.root.Unit.Application
	metadata := metadataOf(content)
	set := func(field, key, value string) {
		into, _ := metadata[field].(map[string]any)
		if into == nil {
			into = map[string]any{}
			metadata[field] = into
		}
		into[key] = value
	}
	namespace, _ := metadata["namespace"].(string)
	name, _ := metadata["name"].(string)
	if strings.Contains(application.Tracking, "annotation") {
		set("annotations", trackingAnnotation, fmt.Sprintf("%s:%s/%s:%s/%s", application.Instance, group, kind, cmp.Or(namespace, u.app.Spec.Destination.Namespace), name))
		if application.Installation != "" {
			set("annotations", installationAnnotation, application.Installation)
		} else if annotations, ok := metadata["annotations"].(map[string]any); ok {
			delete(annotations, installationAnnotation)
		}
	}
	if strings.Contains(application.Tracking, "label") {
		value := application.Instance
		if len(value) > longestLabel && application.Tracking != "label" { // with label tracking, Argo CD would not find a truncated name
			value = strings.TrimRight(value[:longestLabel], "-_.")
		}
		set("labels", cmp.Or(application.InstanceLabel, instanceLabel), value)
	}
}
