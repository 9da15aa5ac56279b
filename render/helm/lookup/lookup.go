package lookup

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
)

// kind describes the objects of a kind that charts look up.
type kind struct {
	version    string
	namespaced bool
	// listed is set when a cluster makes no objects of the kind itself.
	listed bool
}

// kinds returns the kinds whose lookups can be answered. Of other kinds, a cluster has objects made by its
// controllers, or serves several versions.
func kinds() map[schema.GroupKind]kind {
	return map[schema.GroupKind]kind{
		{Kind: "ConfigMap"}:                                   {version: "v1", namespaced: true},
		{Kind: "Secret"}:                                      {version: "v1", namespaced: true},
		{Kind: "Namespace"}:                                   {version: "v1"},
		{Kind: "ServiceAccount"}:                              {version: "v1", namespaced: true},
		{Kind: "Service"}:                                     {version: "v1", namespaced: true},
		{Group: "apps", Kind: "Deployment"}:                   {version: "v1", namespaced: true, listed: true},
		{Group: "apps", Kind: "StatefulSet"}:                  {version: "v1", namespaced: true, listed: true},
		{Group: "apps", Kind: "DaemonSet"}:                    {version: "v1", namespaced: true, listed: true},
		{Group: "batch", Kind: "CronJob"}:                     {version: "v1", namespaced: true, listed: true},
		{Group: "networking.k8s.io", Kind: "Ingress"}:         {version: "v1", namespaced: true, listed: true},
		{Group: "networking.k8s.io", Kind: "IngressClass"}:    {version: "v1", listed: true},
		{Group: "networking.k8s.io", Kind: "NetworkPolicy"}:   {version: "v1", namespaced: true, listed: true},
		{Group: "storage.k8s.io", Kind: "StorageClass"}:       {version: "v1", listed: true},
		{Group: "policy", Kind: "PodDisruptionBudget"}:        {version: "v1", namespaced: true, listed: true},
		{Group: "apiextensions.k8s.io", Kind: definitionKind}: {version: "v1", listed: true},
	}
}

const definitionKind = "CustomResourceDefinition"

// ServerReason is the reason why fields that the server writes are unknown.
const ServerReason = "the API server writes it"

// Request is a query for an object or a list.
type Request struct {
	Kind            schema.GroupKind
	Namespace, Name string // empty for a list, and for all namespaces
	namespaced      bool
}

// Of returns the object or list that a query is for; ok is false when the cluster's objects for it cannot be
// known.
func Of(q render.Query) (w Request, ok bool) {
	version, err := schema.ParseGroupVersion(q.APIVersion)
	if err != nil {
		return w, false
	}
	w = Request{Kind: schema.GroupKind{Group: version.Group, Kind: q.Kind}, Namespace: q.Namespace, Name: q.Name}
	known, ok := kinds()[w.Kind]
	w.namespaced = known.namespaced
	switch {
	case !ok || known.version != version.Version:
		return w, false
	case q.Name == "":
		return w, known.listed
	}
	return w, !(w.namespaced && w.Namespace == "") && !isMade(w)
}

// isMade reports whether a cluster may make an object itself, or Helm may keep it.
func isMade(w Request) bool {
	system := []string{"default", "kube-system", "kube-public", "kube-node-lease"}
	switch w.Kind.Kind {
	case "Namespace":
		return slices.Contains(system, w.Name)
	case "ServiceAccount":
		return w.Name == "default" || strings.HasPrefix(w.Namespace, "kube-")
	case "Service":
		return w.Namespace == "default" && w.Name == "kubernetes"
	case "ConfigMap":
		return w.Name == "kube-root-ca.crt" || slices.Contains(system[1:], w.Namespace)
	case "Secret":
		return strings.HasPrefix(w.Name, "sh.helm.release.v1.") || slices.Contains(system[1:], w.Namespace)
	}
	return false
}

// Matching is the result of comparing an object with a query.
type Matching int

const (
	// Differs: the object does not match.
	Differs Matching = iota
	// Matches: the object matches.
	Matches
	// MayMatch: it depends on unknown fields.
	MayMatch
)

// Match compares an object with the query.
func (w Request) Match(o *render.Object) Matching {
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Name         string `json:"name"`
			GenerateName string `json:"generateName"`
			Namespace    string `json:"namespace"`
		} `json:"metadata"`
	}
	if json.Unmarshal(o.JSON, &head) != nil {
		return MayMatch
	}
	version, err := schema.ParseGroupVersion(head.APIVersion)
	switch {
	case err != nil:
		return MayMatch
	case version.Group != w.Kind.Group || head.Kind != w.Kind.Kind:
		return Differs
	case slices.ContainsFunc(o.Unknown, func(u render.Unknown) bool { return namesObject(u.Path) }):
		return MayMatch
	case w.Name == "" && head.Metadata.Name == "" && head.Metadata.GenerateName == "", w.Name != "" && head.Metadata.Name != w.Name:
		return Differs
	case !w.namespaced || w.Namespace == "":
		return Matches
	case head.Metadata.Namespace == "":
		return MayMatch // its namespace is unknown
	case head.Metadata.Namespace != w.Namespace:
		return Differs
	}
	return Matches
}

// namesObject reports whether a field identifies an object.
func namesObject(field []string) bool {
	return len(field) == 0 || field[0] == "kind" || field[0] == "apiVersion" || field[0] == "metadata" && (len(field) == 1 || field[1] == "name" || field[1] == "namespace")
}

// Stored returns an object as the cluster stores it, and its unknown fields; ok is false if the chart's view
// of it is unknown. Values of a Secret are unknown to charts, so that none gets into a report: only its keys
// are known.
func Stored(kind string, o *render.Object) (text []byte, unknown []render.Unknown, ok bool) {
	content := o.Content()
	metadata, isMap := content["metadata"].(map[string]any)
	if !isMap || kind != "ConfigMap" && kind != "Secret" || !isTexts(content["data"]) || !isTexts(content["stringData"]) {
		return nil, nil, false
	}
	for _, name := range []string{"creationTimestamp", "resourceVersion", "uid"} {
		metadata[name] = ""
		unknown = append(unknown, render.Unknown{Path: []string{"metadata", name}, Reason: ServerReason})
	}
	delete(metadata, "managedFields")
	if kind == "Secret" {
		keys := keysOf(content)
		if keys == nil {
			return nil, nil, false
		}
		data := map[string]any{}
		for _, key := range keys {
			data[key] = ""
			unknown = append(unknown, render.Unknown{Path: []string{"data", key}, Reason: "values of Secrets are not told"})
		}
		delete(content, "stringData")
		delete(content, "data")
		if len(data) > 0 {
			content["data"] = data
		}
		if content["type"] == nil {
			content["type"] = "Opaque"
		}
	}
	for _, u := range o.Unknown {
		switch {
		case kind == "Secret" && len(u.Path) == 2 && (u.Path[0] == "data" || u.Path[0] == "stringData"):
		case len(u.Path) < 2 || !isText(content, u.Path):
			return nil, nil, false
		default:
			unknown = append(unknown, u)
		}
	}
	return tree.Encode(content), unknown, true
}

// keysOf returns the sorted keys of a Secret; nil when it is invalid.
func keysOf(content map[string]any) []string {
	keys := []string{}
	for _, field := range []string{"data", "stringData"} {
		data, _ := content[field].(map[string]any)
		for key, value := range data {
			if text, _ := value.(string); field == "data" && !strings.HasPrefix(text, "ENC[") {
				if _, err := base64.StdEncoding.DecodeString(text); err != nil {
					return nil
				}
			}
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// isTexts reports whether a value is nil or a mapping of texts.
func isTexts(value any) bool {
	values, ok := value.(map[string]any)
	if value != nil && !ok {
		return false
	}
	for _, v := range values {
		if _, ok := v.(string); !ok {
			return false
		}
	}
	return true
}

// isText reports whether a path of keys leads to a text.
func isText(value any, path []string) bool {
	for _, key := range path {
		in, _ := value.(map[string]any)
		value = in[key]
	}
	_, ok := value.(string)
	return ok
}
