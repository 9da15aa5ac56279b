package flux

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/preadmit/preadmit/render/origin"

	kjson "sigs.k8s.io/json"
)

// specFields are the fields in the spec of a Kustomization, as defined by v1 and v1beta2. Everything is allowed below a
// field with `.*`.
const specFields = `
buildMetadata commonMetadata commonMetadata.annotations.* commonMetadata.labels.* components
decryption decryption.provider decryption.secretRef decryption.secretRef.name decryption.serviceAccountName
deletionPolicy dependsOn dependsOn.name dependsOn.namespace dependsOn.readyExpr force
healthCheckExprs healthCheckExprs.apiVersion healthCheckExprs.current healthCheckExprs.failed healthCheckExprs.inProgress healthCheckExprs.kind
healthChecks healthChecks.apiVersion healthChecks.kind healthChecks.name healthChecks.namespace
ignore.* ignoreMissingComponents images images.digest images.name images.newName images.newTag interval
kubeConfig kubeConfig.configMapRef kubeConfig.configMapRef.name kubeConfig.secretRef kubeConfig.secretRef.key kubeConfig.secretRef.name
namePrefix nameSuffix patches patches.patch patches.target patches.target.annotationSelector patches.target.group
patches.target.kind patches.target.labelSelector patches.target.name patches.target.namespace patches.target.version
patchesJson6902.* patchesStrategicMerge.* path postBuild postBuild.substitute.* postBuild.substituteFrom
postBuild.substituteFrom.kind postBuild.substituteFrom.name postBuild.substituteFrom.optional postBuild.substituteStrategy
prune retryInterval serviceAccountName sourceRef sourceRef.apiVersion sourceRef.kind sourceRef.name sourceRef.namespace
suspend targetNamespace timeout validation wait`

// releaseFields are the fields in the spec of a HelmRelease, as defined by v2.
const releaseFields = `
chart chart.metadata.* chart.spec chart.spec.chart chart.spec.ignoreMissingValuesFiles chart.spec.interval chart.spec.reconcileStrategy
chart.spec.sourceRef chart.spec.sourceRef.apiVersion chart.spec.sourceRef.kind chart.spec.sourceRef.name chart.spec.sourceRef.namespace
chart.spec.valuesFile chart.spec.valuesFiles chart.spec.verify.* chart.spec.version
chartRef chartRef.apiVersion chartRef.kind chartRef.name chartRef.namespace
commonMetadata commonMetadata.annotations.* commonMetadata.labels.* dependsOn dependsOn.name dependsOn.namespace dependsOn.readyExpr
driftDetection.* healthCheckExprs.* interval kubeConfig kubeConfig.configMapRef kubeConfig.configMapRef.name
kubeConfig.secretRef kubeConfig.secretRef.key kubeConfig.secretRef.name maxHistory persistentClient
install install.crds install.createNamespace install.disableHooks install.disableOpenAPIValidation install.disableSchemaValidation
install.disableTakeOwnership install.disableWait install.disableWaitForJobs install.remediation.* install.replace install.serverSideApply
install.skipCRDs install.strategy.* install.timeout
postRenderers postRenderers.kustomize postRenderers.kustomize.images postRenderers.kustomize.images.digest postRenderers.kustomize.images.name
postRenderers.kustomize.images.newName postRenderers.kustomize.images.newTag postRenderers.kustomize.patches postRenderers.kustomize.patches.patch
postRenderers.kustomize.patches.target postRenderers.kustomize.patches.target.annotationSelector postRenderers.kustomize.patches.target.group
postRenderers.kustomize.patches.target.kind postRenderers.kustomize.patches.target.labelSelector postRenderers.kustomize.patches.target.name
postRenderers.kustomize.patches.target.namespace postRenderers.kustomize.patches.target.version postRenderStrategy
releaseName rollback.* serviceAccountName storageNamespace suspend targetNamespace
test test.enable test.filters.* test.ignoreFailures test.timeout timeout uninstall.*
upgrade upgrade.chartNameChangeStrategy upgrade.cleanupOnFail upgrade.crds upgrade.disableHooks upgrade.disableOpenAPIValidation upgrade.disableSchemaValidation
upgrade.disableTakeOwnership upgrade.disableWait upgrade.disableWaitForJobs upgrade.force upgrade.preserveValues upgrade.remediation.* upgrade.serverSideApply
upgrade.strategy.* upgrade.timeout values.* valuesFrom valuesFrom.kind valuesFrom.literal valuesFrom.name valuesFrom.optional
valuesFrom.targetPath valuesFrom.valuesKey waitStrategy.*`

// knownFields and knownReleaseFields are these tables as sets.
var (
	knownFields        = sync.OnceValue(func() map[string]bool { return words(specFields) })
	knownReleaseFields = sync.OnceValue(func() map[string]bool { return words(releaseFields) })
)

func words(table string) map[string]bool {
	known := map[string]bool{}
	for _, name := range strings.Fields(table) {
		known[name] = true
	}
	return known
}

// UnknownReleaseFields returns the fields in the spec of a HelmRelease that are not defined, like UnknownFields.
func UnknownReleaseFields(object json.RawMessage) []string {
	return unknownFields(object, knownReleaseFields())
}

// UnknownFields returns the paths of the fields in the spec of a Kustomization that are not defined, in order. An API
// server refuses or drops them.
func UnknownFields(object json.RawMessage) []string { return unknownFields(object, knownFields()) }

func unknownFields(object json.RawMessage, known map[string]bool) []string {
	var o struct {
		Spec map[string]any `json:"spec"`
	}
	if kjson.UnmarshalCaseSensitivePreserveInts(object, &o) != nil {
		return nil
	}
	w := &fieldWalk{known: known}
	w.fields(o.Spec, "", "spec")
	return w.unknown
}

// fieldWalk searches for fields that are not known.
type fieldWalk struct {
	known   map[string]bool
	unknown []string
}

// fields searches a mapping. prefix is the prefix of its fields in the table, path its path in the object.
func (w *fieldWalk) fields(of map[string]any, prefix, path string) {
	for _, key := range slices.Sorted(maps.Keys(of)) {
		name, at := prefix+key, origin.AppendKey(path, key)
		switch {
		case w.known[name+".*"]:
		case !w.known[name]:
			w.unknown = append(w.unknown, at)
		default:
			w.below(of[key], name+".", at)
		}
	}
}

func (w *fieldWalk) below(value any, prefix, path string) {
	switch v := value.(type) {
	case map[string]any:
		w.fields(v, prefix, path)
	case []any:
		for i, item := range v {
			w.below(item, prefix, fmt.Sprintf("%s[%d]", path, i))
		}
	}
}
