package deploy

import "k8s.io/apimachinery/pkg/runtime/schema"

// releaseKind is the kind of objects that have a chart installed.
var releaseKind = schema.GroupKind{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease"}
