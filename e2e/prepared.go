package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	schemaobjectmeta "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/suite"
)

// prepared compares the objects that policies see: the objects that the server returned
// and had stored, with those that preadmit passes to policies.
func (c *conformance) prepared(ctx context.Context, r *replayed) error {
	p := newPreparer(ctx, r.Suite)
	for i := range r.Requests {
		request := &r.Requests[i]
		object, old := r.record.Objects[request.Name], r.record.OldObjects[request.Name]
		if request.Subresource != "" {
			old = nil // the old object of a subresource has another kind
		}
		if object != nil && !answersAsAdmitted(p.cluster, request) {
			c.report.skip(errNotAsAdmitted)
			object = nil
		}
		if object == nil && old == nil {
			continue
		}
		server := preparedObjects{object, old}
		ours, err := p.prepare(ctx, request.ClientRequest())
		if err != nil {
			return fmt.Errorf("request %s: %w", request.Name, err)
		}
		if ours == nil {
			continue // preadmit refuses the request; the verdicts have been compared
		}
		c.report.objects += server.count()
		differences := server.compare(ours)
		if len(differences) > 0 && len(p.policies.Mutations) > 1 {
			other, err := p.otherOrder().prepare(ctx, request.ClientRequest())
			if err != nil {
				return fmt.Errorf("request %s: %w", request.Name, err)
			}
			if other != nil && len(server.compare(other)) == 0 {
				c.report.chance++
				continue
			}
		}
		if len(differences) > 0 {
			c.report.object(r.name+": "+request.Name, differences)
		}
	}
	return nil
}

// count returns the number of objects that are not nil.
func (p preparedObjects) count() (n int) {
	for _, o := range []map[string]any{p.object, p.old} {
		if o != nil {
			n++
		}
	}
	return n
}

// compare returns the differences of others from the objects that are not nil.
func (p preparedObjects) compare(others *preparedObjects) []pathDifference {
	var differences []pathDifference
	if p.object != nil {
		differences = compareObjects("object", p.object, others.object)
	}
	if p.old != nil {
		differences = append(differences, compareObjects("oldObject", p.old, others.old)...)
	}
	return differences
}

// errNotAsAdmitted is the reason why an object is not compared.
var errNotAsAdmitted = errors.New("the object of the answer is not what policies see: of a kind that is not stored, or a version that is not")

// answersAsAdmitted reports whether the server returns the object as policies see it.
// Reviews are not stored. Custom resources are converted from the storage version and
// pruned by it, and new ones have the defaults of a status.
func answersAsAdmitted(c *admission.Cluster, request *suite.Request) bool {
	o := admission.NewObject(request.Object)
	kind := o.GroupVersionKind()
	if kind.Group == "authentication.k8s.io" || kind.Group == "authorization.k8s.io" {
		return false
	}
	r, ok := c.Resource(kind)
	if !ok || !r.Custom || request.Subresource != "" {
		return true
	}
	definition, ok := c.Resource(definitionKind)
	if !ok {
		return true
	}
	stored := storageVersion(c.Find(definition, "", r.GroupResource().String()))
	if stored["name"] != kind.Version {
		return false
	}
	_, defaults, _ := unstructured.NestedFieldNoCopy(stored, "schema", "openAPIV3Schema", "properties", "status", "default")
	_, dropped, _ := unstructured.NestedFieldNoCopy(stored, "subresources", "status")
	return request.OldObject != nil || !defaults || !dropped
}

// storageVersion returns the version of a definition in which its resources are stored.
func storageVersion(definition *admission.Object) map[string]any {
	spec, _ := definition.Content()["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		if version, _ := v.(map[string]any); version["storage"] == true {
			return version
		}
	}
	return nil
}

// stored returns the object of a request as the server returns it: read back from its
// storage, which drops empty lists and sets defaults again. It returns nil for objects
// outside of the main scheme, which storage does not change.
func stored(request *admission.Request) (map[string]any, error) {
	if request.GetObject() == nil {
		return nil, nil
	}
	return readBack(request.GetObject(), request.GetKind().GroupVersion())
}

func readBack(object runtime.Object, gv schema.GroupVersion) (map[string]any, error) {
	scheme := legacyscheme.Scheme
	if !scheme.IsVersionRegistered(gv) {
		return nil, nil
	}
	serializer := protobuf.NewSerializer(scheme, scheme)
	codec := legacyscheme.Codecs.CodecForVersions(serializer, serializer, gv, runtime.InternalGroupVersioner)
	data, err := runtime.Encode(codec, object)
	if err != nil {
		return nil, fmt.Errorf("store the object: %w", err)
	}
	back, err := runtime.Decode(codec, data)
	if err != nil {
		return nil, fmt.Errorf("read the object back: %w", err)
	}
	versioned, err := scheme.ConvertToVersion(back, gv)
	if err != nil {
		return nil, fmt.Errorf("convert the object: %w", err)
	}
	return admission.Content(versioned)
}

// storedContent is stored for the content of an object as policies see it. For custom resources
// only the metadata is read back.
func storedContent(content map[string]any) (map[string]any, error) {
	gv := admission.NewObject(content).GroupVersionKind().GroupVersion()
	if !legacyscheme.Scheme.IsVersionRegistered(gv) {
		u := (&unstructured.Unstructured{Object: content}).DeepCopy()
		if err := rereadMetadata(u.Object); err != nil {
			return nil, err
		}
		return asJSON(u.Object)
	}
	data, err := json.Marshal(content)
	if err != nil {
		return nil, fmt.Errorf("encode the object: %w", err)
	}
	object, err := runtime.Decode(legacyscheme.Codecs.UniversalDecoder(), data)
	if err != nil {
		return nil, fmt.Errorf("decode the object: %w", err)
	}
	back, err := readBack(object, gv)
	if err != nil {
		return nil, err
	}
	return asJSON(back)
}

// rereadMetadata decodes the metadata of a custom resource, and of resources embedded in it, as a server does
// that reads it from etcd.
func rereadMetadata(value any) error {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			if err := rereadMetadata(item); err != nil {
				return err
			}
		}
	case map[string]any:
		if v["apiVersion"] != nil && v["kind"] != nil {
			read, found, err := schemaobjectmeta.GetObjectMeta(v, false)
			if err == nil && found {
				err = schemaobjectmeta.SetObjectMeta(v, read)
			}
			if err != nil {
				return err
			}
		}
		for _, item := range v {
			if err := rereadMetadata(item); err != nil {
				return err
			}
		}
	}
	return nil
}

// asJSON returns an object with the types of decoded JSON.
func asJSON(object map[string]any) (map[string]any, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encode the prepared object: %w", err)
	}
	var decoded map[string]any
	return decoded, json.Unmarshal(data, &decoded)
}

// pathDifference is a field that differs between two objects; nil where it is absent.
type pathDifference struct {
	path         string
	server, ours any
}

// compareObjects compares two objects, except for values that a server generates.
func compareObjects(path string, server, ours map[string]any) []pathDifference {
	neutral(server)
	neutral(ours)
	var all []pathDifference
	compareValues(path, server, ours, &all)
	return all
}

func compareValues(path string, server, ours any, all *[]pathDifference) {
	a, aIsMap := server.(map[string]any)
	b, bIsMap := ours.(map[string]any)
	if aIsMap && bIsMap {
		names := maps.Clone(a)
		maps.Copy(names, b)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			compareFields(path+"."+name, name, a, b, all)
		}
		return
	}
	x, aIsList := server.([]any)
	y, bIsList := ours.([]any)
	if aIsList && bIsList && len(x) == len(y) {
		for i := range x {
			compareValues(fmt.Sprintf("%s[%d]", path, i), x[i], y[i], all)
		}
		return
	}
	if !reflect.DeepEqual(server, ours) {
		*all = append(*all, pathDifference{path, server, ours})
	}
}

// compareFields also distinguishes a null field from an absent one.
func compareFields(path, name string, a, b map[string]any, all *[]pathDifference) {
	x, inA := a[name]
	y, inB := b[name]
	if inA != inB && x == nil && y == nil {
		x, y = presence(inA), presence(inB)
	}
	compareValues(path, x, y, all)
}

func presence(is bool) any {
	if is {
		return "null"
	}
	return nil
}

// neutral removes what a server generates: identity, times and managed fields. It
// replaces addresses and ports that the server allocates by a fixed text.
func neutral(o map[string]any) {
	metadata, _ := o["metadata"].(map[string]any)
	uid, _ := metadata["uid"].(string)
	for _, made := range []string{"uid", "creationTimestamp", "managedFields", "resourceVersion", "selfLink"} {
		delete(metadata, made)
	}
	if metadata["generateName"] != nil && o["kind"] != nil {
		delete(metadata, "name")
	}
	if uid != "" {
		renamed(o, func(s string) string {
			if s == uid {
				return "the uid"
			}
			return s
		})
	}
	switch o["kind"] {
	case "Pod":
		status, _ := o["status"].(map[string]any)
		withoutTimes(status["conditions"])
		renamed(o, func(s string) string { return tokenVolume.ReplaceAllString(s, "${1}X") })
	case "Service":
		allocated(o)
	case "CertificateSigningRequest":
		status, _ := o["status"].(map[string]any)
		withoutTimes(status["conditions"])
	case "FlowSchema":
		delete(o, "status") // the server writes it some time later
	case "PersistentVolume":
		status, _ := o["status"].(map[string]any)
		delete(status, "lastPhaseTransitionTime")
	case definitionKind.Kind:
		conditions(o)
	}
}

// tokenVolume matches the name of the volume with a Pod's token.
var tokenVolume = regexp.MustCompile(`(kube-api-access-)[a-z0-9]{5}\b`)

// renamed replaces all strings in a value.
func renamed(v any, with func(string) string) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			v[key] = renamed(value, with)
		}
	case []any:
		for i, value := range v {
			v[i] = renamed(value, with)
		}
	case string:
		return with(v)
	}
	return v
}

// allocated replaces the allocated addresses and ports of a Service.
func allocated(service map[string]any) {
	spec, _ := service["spec"].(map[string]any)
	if ip, _ := spec["clusterIP"].(string); ip != "" && ip != "None" {
		spec["clusterIP"] = "an address"
		if all, _ := spec["clusterIPs"].([]any); len(all) > 0 {
			all[0] = "an address"
		}
	}
	if spec["healthCheckNodePort"] != nil {
		spec["healthCheckNodePort"] = "a port"
	}
	ports, _ := spec["ports"].([]any)
	for _, p := range ports {
		if port, _ := p.(map[string]any); port["nodePort"] != nil {
			port["nodePort"] = "a port"
		}
	}
}

// withoutTimes removes the times of conditions.
func withoutTimes(conditions any) {
	all, _ := conditions.([]any)
	for _, c := range all {
		if condition, ok := c.(map[string]any); ok {
			delete(condition, "lastTransitionTime")
			delete(condition, "lastUpdateTime")
		}
	}
}

// conditions removes the times of a definition's conditions, and sorts them.
func conditions(definition map[string]any) {
	status, _ := definition["status"].(map[string]any)
	all, _ := status["conditions"].([]any)
	withoutTimes(all)
	kind := func(c any) string {
		condition, _ := c.(map[string]any)
		name, _ := condition["type"].(string)
		return name
	}
	slices.SortFunc(all, func(a, b any) int { return strings.Compare(kind(a), kind(b)) })
}
