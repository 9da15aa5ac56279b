package builtin

import (
	"sync"

	apiextensionsinstall "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	apiregistrationinstall "k8s.io/kube-aggregator/pkg/apis/apiregistration/install"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	"github.com/preadmit/preadmit/render/tree"

	// The API groups a kube-apiserver serves register themselves with legacyscheme
	// (k8s.io/kubernetes/pkg/controlplane/import_known_versions.go).
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	_ "k8s.io/kubernetes/pkg/apis/apiserverinternal/install"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/authentication/install"
	_ "k8s.io/kubernetes/pkg/apis/authorization/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/events/install"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	_ "k8s.io/kubernetes/pkg/apis/storagemigration/install"
)

// Codec decodes objects of some API groups like their API server: strict JSON, defaulted, converted
// to the internal version.
type Codec struct {
	Scheme *runtime.Scheme
	Codecs serializer.CodecFactory
	strict runtime.Serializer
}

func newCodec(scheme *runtime.Scheme, codecs serializer.CodecFactory) *Codec {
	strict := json.NewSerializerWithOptions(meta{}, scheme, scheme, json.SerializerOptions{Strict: true})
	return &Codec{Scheme: scheme, Codecs: codecs, strict: sharing{strict, scheme}}
}

// meta finds the version and kind of objects like the API server's decoders, without parsing the whole object
// if it begins with them.
type meta struct{}

// Interpret implements json.MetaFactory.
func (meta) Interpret(data []byte) (*schema.GroupVersionKind, error) {
	if apiVersion, kind, _, ok := tree.Head(data); ok {
		if gv, err := schema.ParseGroupVersion(string(apiVersion)); err == nil {
			return &schema.GroupVersionKind{Group: gv.Group, Version: gv.Version, Kind: string(kind)}, nil
		}
	}
	return json.DefaultMetaFactory.Interpret(data)
}

// Decoder returns a decoder of a group's objects into its internal version.
func (c *Codec) Decoder(group string) runtime.Decoder {
	hub := schema.GroupVersion{Group: group, Version: runtime.APIVersionInternal}
	return c.Codecs.DecoderToVersion(c.strict, hub)
}

// The codecs of the three API servers that a kube-apiserver chains: that of all other built-in kinds,
// that of CustomResourceDefinitions, and the aggregator.
var (
	core = sync.OnceValue(func() *Codec {
		return newCodec(legacyscheme.Scheme, legacyscheme.Codecs)
	})
	extensions = sync.OnceValue(func() *Codec {
		scheme := runtime.NewScheme()
		apiextensionsinstall.Install(scheme)
		return newCodec(scheme, serializer.NewCodecFactory(scheme))
	})
	registration = sync.OnceValue(func() *Codec {
		scheme := runtime.NewScheme()
		apiregistrationinstall.Install(scheme)
		return newCodec(scheme, serializer.NewCodecFactory(scheme))
	})
)

// CodecOf returns the codec of a built-in API group.
func CodecOf(group string) *Codec {
	switch group {
	case "apiextensions.k8s.io":
		return extensions()
	case "apiregistration.k8s.io":
		return registration()
	}
	return core()
}

// Core returns the codec of all built-in kinds except CustomResourceDefinitions and APIServices.
func Core() *Codec { return core() }

// Extensions returns the codec of CustomResourceDefinitions.
func Extensions() *Codec { return extensions() }
