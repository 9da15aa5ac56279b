package etcd

import (
	"path"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/storage"
	storageerrors "k8s.io/apiserver/pkg/storage/errors"

	"github.com/preadmit/preadmit/scanner/kinds"
)

// Place is the place where an object is stored.
type Place struct {
	Resource schema.GroupResource
	// Custom is set if a CustomResourceDefinition defines the resource.
	Custom bool
	// Namespace is empty for a cluster-scoped object.
	Namespace, Name string
	// DryRun is set for a request that stores nothing.
	DryRun bool
}

// prefixes are the prefixes of the resources that are not stored under their own name
// (k8s.io/kubernetes/pkg/kubeapiserver, SpecialDefaultResourcePrefixes).
var prefixes = map[schema.GroupResource]string{
	{Resource: "replicationcontrollers"}:                "controllers",
	{Resource: "endpoints"}:                             "services/endpoints",
	{Resource: "nodes"}:                                 "minions",
	{Resource: "services"}:                              "services/specs",
	{Group: "networking.k8s.io", Resource: "ingresses"}: "ingress",
}

// key returns the object's key in etcd, as the server's errors show it.
func (p Place) key() string {
	prefix := p.Resource.Resource
	if special := prefixes[p.Resource]; special != "" {
		prefix = special
	}
	if p.Custom || p.Resource.Group == kinds.Definition.Group || p.Resource.Group == "apiregistration.k8s.io" {
		prefix = p.Resource.Group + "/" + prefix // of servers with a prefix of their own
	}
	root := "/registry" // the default
	if p.DryRun {
		root = "/"
	}
	return path.Join(root, prefix, p.Namespace, p.Name)
}

// SameUID returns an error if an update has another UID than the stored object; an update without UID matches
// any (k8s.io/apiserver/pkg/registry/rest, UpdatedObjectInfo.Preconditions).
func SameUID(uid types.UID, stored runtime.Object, place Place) error {
	if uid == "" {
		return nil
	}
	if err := (&storage.Preconditions{UID: &uid}).Check(place.key(), stored); err != nil {
		return storageerrors.InterpretUpdateError(err, place.Resource, place.Name)
	}
	return nil
}
