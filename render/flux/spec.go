package flux

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/fluxtypes"

	kjson "sigs.k8s.io/json"
)

// Group is the API group of Flux Kustomizations.
const Group = "kustomize.toolkit.fluxcd.io"

// Kind is the kind of a Flux Kustomization.
var Kind = schema.GroupKind{Group: Group, Kind: "Kustomization"}

// Kustomization has the fields of a Flux Kustomization that influence what is applied.
type Kustomization struct {
	APIVersion string `json:"apiVersion"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec Spec `json:"spec"`
}

// Spec has the fields of a Kustomization's spec that influence what is applied and how.
type Spec struct {
	SourceRef SourceRef `json:"sourceRef"`
	Path      string    `json:"path"`

	TargetNamespace         string            `json:"targetNamespace"`
	NamePrefix              string            `json:"namePrefix"`
	NameSuffix              string            `json:"nameSuffix"`
	Patches                 []fluxtypes.Patch `json:"patches"`
	Images                  []fluxtypes.Image `json:"images"`
	Components              []string          `json:"components"`
	IgnoreMissingComponents bool              `json:"ignoreMissingComponents"`
	BuildMetadata           []string          `json:"buildMetadata"`

	Decryption *struct {
		Provider string `json:"provider"`
	} `json:"decryption"`
	PostBuild      *PostBuild `json:"postBuild"`
	CommonMetadata *struct {
		Annotations map[string]string `json:"annotations"`
		Labels      map[string]string `json:"labels"`
	} `json:"commonMetadata"`

	Prune              bool        `json:"prune"`
	Suspend            bool        `json:"suspend"`
	Force              bool        `json:"force"`
	DeletionPolicy     string      `json:"deletionPolicy"`
	ServiceAccountName string      `json:"serviceAccountName"`
	KubeConfig         *KubeConfig `json:"kubeConfig"`

	// Fields of v1beta2 that v1 does not have.
	PatchesStrategicMerge []any `json:"patchesStrategicMerge"`
	PatchesJson6902       []any `json:"patchesJson6902"`
}

// SourceRef names the source of a Kustomization.
type SourceRef struct {
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// PostBuild configures substitution.
type PostBuild struct {
	SubstituteStrategy string            `json:"substituteStrategy"`
	Substitute         map[string]string `json:"substitute"`
	SubstituteFrom     []Reference       `json:"substituteFrom"`
}

// Reference names a ConfigMap or Secret with variables.
type Reference struct {
	Kind     string `json:"kind"`
	Name     string `json:"name"`
	Optional bool   `json:"optional"`
}

// KubeConfig refers to the kubeconfig of another cluster.
type KubeConfig struct {
	SecretRef *struct {
		Name string `json:"name"`
	} `json:"secretRef"`
	ConfigMapRef *struct {
		Name string `json:"name"`
	} `json:"configMapRef"`
}

// Parse decodes a Kustomization. It fails if an API server with Flux's definitions would refuse it, or if it has a
// field that current versions of the controller do not support.
func Parse(object json.RawMessage) (*Kustomization, error) {
	k := &Kustomization{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(object, k); err != nil {
		return nil, fmt.Errorf("not a Kustomization of Flux: %w", err)
	}
	s := &k.Spec
	switch {
	case s.SourceRef.Kind == "" || s.SourceRef.Name == "":
		return nil, &fieldError{"spec.sourceRef", "spec.sourceRef needs a kind and a name"}
	case len(s.PatchesStrategicMerge)+len(s.PatchesJson6902) > 0:
		return nil, &fieldError{"spec", "spec.patchesStrategicMerge and spec.patchesJson6902 are no fields of " + Group + "/v1: use spec.patches"}
	}
	switch s.DeletionPolicy {
	case "", "MirrorPrune", "Delete", "WaitForTermination", "Orphan":
	default:
		return nil, &fieldError{"spec.deletionPolicy", fmt.Sprintf("spec.deletionPolicy: %q is none of MirrorPrune, Delete, WaitForTermination and Orphan", s.DeletionPolicy)}
	}
	return k, nil
}

// SourceNamespace returns the namespace of the source.
func (k *Kustomization) SourceNamespace() string {
	if k.Spec.SourceRef.Namespace != "" {
		return k.Spec.SourceRef.Namespace
	}
	return k.Metadata.Namespace
}

// SourceRef returns the reference to the source.
func (k *Kustomization) SourceRef() render.ObjectRef {
	return render.ObjectRef{Group: fluxtypes.SourceGroup, Kind: k.Spec.SourceRef.Kind, Namespace: k.SourceNamespace(), Name: k.Spec.SourceRef.Name}
}

// Apply returns how the controller applies the objects.
func (k *Kustomization) Apply() render.Apply {
	a := render.Apply{Suspended: k.Spec.Suspend, Prune: k.Spec.Prune, Force: k.Spec.Force, DeletionPolicy: k.Spec.DeletionPolicy}
	if a.DeletionPolicy == "" {
		a.DeletionPolicy = "MirrorPrune"
	}
	if k.Spec.ServiceAccountName != "" {
		a.User = "system:serviceaccount:" + k.Metadata.Namespace + ":" + k.Spec.ServiceAccountName
	}
	return a
}
