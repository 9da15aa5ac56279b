package kustomize

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/tree"
)

// missingTarget and missingReplicas match kustomize's messages about objects that it does not find by name:
// those of patches without a target, and of `replicas`.
var (
	missingTarget   = regexp.MustCompile(`no matches for Id ([^\s;]+); failed to find unique target for patch`)
	missingReplicas = regexp.MustCompile(`resource with name (\S+) does not match a config with the following GVK`)
)

// missing returns the object that kustomize did not find.
func missing(err error) (id resid.ResId, ok bool) {
	if found := missingTarget.FindStringSubmatch(err.Error()); found != nil && strings.Contains(found[1], "/") {
		id = resid.FromString(found[1])
		return id, id.Kind != "" && id.Name != ""
	}
	if found := missingReplicas.FindStringSubmatch(err.Error()); found != nil {
		return resid.NewResId(resid.NewGvk("apps", "v1", "Deployment"), found[1]), true
	}
	return id, false
}

// lackOf returns what the build lacks; nil when nothing is absent.
func lackOf(c *build.Closure) *render.Lack {
	if len(c.Absent) == 0 {
		return nil
	}
	first := atEntry(c, c.Absent[0].Problem())
	l := &render.Lack{Position: first.Position}
	for _, a := range c.Absent {
		l.What = append(l.What, a.Value)
	}
	slices.Sort(l.What)
	l.What = slices.Compact(l.What)
	more := ""
	if n := len(l.What) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	l.Why = fmt.Sprintf("%s%s; the rest is rendered without it", first.Message, more)
	return l
}

// lack finishes the result of a closure that lacks resources. A failed build may fail because of them, so the
// root is refused.
func (r *Source) lack(result *render.Result, c *build.Closure) {
	if result.Problem != nil || len(result.Objects) == 0 {
		result.Objects, result.Problem = nil, atEntry(c, c.Absent[0].Problem())
		return
	}
	d := dependence{lack: lackOf(c)}
	for _, a := range c.Absent {
		d.names, d.vars = d.names || a.Whole, d.vars || a.Whole
	}
	for _, k := range c.Files {
		d.names = d.names || k.Spec.NamePrefix+k.Spec.NameSuffix != ""
		if k.Spec.Namespace != "" {
			d.namespaces = append(d.namespaces, k.Spec.Namespace)
		}
		if len(k.Spec.Vars) > 0 {
			result.Objects, result.Problem = nil, atEntry(c, c.Absent[0].Problem())
			return
		}
	}
	for _, e := range c.Entries {
		if d.names && len(e.At) > 0 && e.At[0] == "configurations" && !d.configure(r, e) {
			result.Objects, result.Problem = nil, atEntry(c, c.Absent[0].Problem())
			return
		}
	}
	result.Lacks = d.lack
	for _, o := range result.Objects {
		d.local = append(d.local, o.Content())
	}
	for i, o := range result.Objects {
		o.Unknown = append(o.Unknown, d.unknown(d.local[i])...)
	}
}

// dependence finds fields that may depend on absent objects: kustomize updates references to objects whose
// name or namespace it changes.
type dependence struct {
	lack *render.Lack
	// names is set when the names of absent objects may be changed, and vars when absent kustomizations may
	// define variables. namespaces are the namespaces that kustomizations set.
	names, vars bool
	namespaces  []string
	local       []map[string]any
	// configured are the references that `configurations` add to the builtin ones.
	configured []configuredReference
}

// configuredReference is a field that refers to objects of a kind, by its last key and the key before.
type configuredReference struct{ kind, field, of string }

// configure adds the references of a file of configurations; ok is false if they are not understood.
func (d *dependence) configure(r *Source, e build.Entry) (ok bool) {
	var config struct {
		NameReference []struct {
			Kind       string `json:"kind"`
			FieldSpecs []struct {
				Path string `json:"path"`
			} `json:"fieldSpecs"`
		} `json:"nameReference"`
	}
	data, _, err := r.tree.Load(e.Target, tree.NewTrace())
	if err != nil || tree.Guard(data, tree.Limits{}.WithDefaults()) != nil || yaml.Unmarshal(data, &config) != nil {
		return false
	}
	for _, to := range config.NameReference {
		for _, spec := range to.FieldSpecs {
			steps := strings.Split(strings.ReplaceAll(strings.Trim(spec.Path, "/"), "[]", ""), "/")
			if strings.Contains(spec.Path, `\`) || isAny(steps[0], []string{"metadata", "kind", "apiVersion"}) {
				return false
			}
			field, of := lastKeys(steps)
			d.configured = append(d.configured, configuredReference{to.Kind, field, of})
		}
	}
	return true
}

// isConfigured reports whether a text is in a field that configurations make a reference, and is not the name
// of a known object.
func (d *dependence) isConfigured(field, of, text string) bool {
	return slices.ContainsFunc(d.configured, func(c configuredReference) bool {
		is := field == c.field && (c.of == "" || of == c.of) || (field == "name" || field == "namespace") && of == c.field
		return is && !d.has(c.kind, text)
	})
}

// unknown returns the fields of an object whose values may be different.
func (d *dependence) unknown(object map[string]any) []render.Unknown {
	var found []render.Unknown
	reason := "it may refer to an object of " + build.Quote(d.lack.What[0]) + ", which is not there"
	kind, _ := object["kind"].(string)
	if version, _ := object["apiVersion"].(string); !isBuiltin(version) {
		kind = ""
	}
	var walk func(value any, path []string)
	walk = func(value any, path []string) {
		switch v := value.(type) {
		case string:
			if d.dependsOn(kind, path, v) {
				found = append(found, render.Unknown{Path: slices.Clone(path), Reason: reason})
			}
		case []any:
			for i, item := range v {
				walk(item, append(path, strconv.Itoa(i)))
			}
		case map[string]any:
			for key, item := range v {
				if len(path) > 0 || key != "metadata" {
					walk(item, append(path, key))
				}
			}
		}
	}
	walk(object, nil)
	slices.SortFunc(found, func(a, b render.Unknown) int { return slices.Compare(a.Path, b.Path) })
	return found
}

// dependsOn reports whether a text is, or may contain, the name of an absent object.
func (d *dependence) dependsOn(kind string, path []string, text string) bool {
	if kind != "Secret" && d.vars && strings.Contains(text, "$(") {
		return true
	}
	field, of := lastKeys(path)
	switch {
	case d.names && d.isConfigured(field, of, text):
		return true
	case kind == "": // kustomize updates no references of other kinds
		return false
	case field == "namespace":
		other := func(namespace string) bool { return namespace != text }
		return (of == "subjects" || of == "service") && (d.names || slices.ContainsFunc(d.namespaces, other))
	}
	to, isName := referent(field, of)
	return d.names && isName && !d.has(to, text)
}

// isBuiltin reports whether an apiVersion belongs to Kubernetes itself, by its group.
func isBuiltin(version string) bool {
	group, _, _ := strings.Cut(version, "/")
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}

// refers matches fields that refer to an object by its name; references are the fields that contain such a
// name, with the kind of the object, "" for several.
var (
	refers     = regexp.MustCompile(`(?i)(ref|reference|configmap|secrets?|service|subjects)$`)
	references = map[string]string{
		"secretName": "Secret", "configMapName": "ConfigMap", "serviceAccountName": "ServiceAccount", "serviceAccount": "ServiceAccount",
		"claimName": "PersistentVolumeClaim", "serviceName": "Service", "volumeName": "", "storageClassName": "", "priorityClassName": "",
		"ingressClassName": "", "runtimeClassName": "", "policyName": "ValidatingAdmissionPolicy", "resourceNames": "",
	}
)

// referent returns the kind of the object that a field names; "" for any.
func referent(field, of string) (kind string, ok bool) {
	if kind, ok := references[field]; ok {
		return kind, true
	}
	if field != "name" && !refers.MatchString(field) || field == "name" && !refers.MatchString(of) {
		return "", false
	}
	switch of = strings.ToLower(of); {
	case strings.HasPrefix(of, "configmap"):
		return "ConfigMap", true
	case strings.HasPrefix(of, "secret"), of == "imagepullsecrets":
		return "Secret", true
	case of == "service":
		return "Service", true
	}
	return "", true
}

// lastKeys returns the last two keys of a path, without indexes.
func lastKeys(path []string) (field, of string) {
	keys := slices.DeleteFunc(slices.Clone(path), func(step string) bool {
		_, err := strconv.Atoi(step)
		return err == nil
	})
	if len(keys) > 0 {
		field = keys[len(keys)-1]
	}
	if len(keys) > 1 {
		of = keys[len(keys)-2]
	}
	return field, of
}

// has reports whether a known object has a kind and a name.
func (d *dependence) has(kind, name string) bool {
	return kind != "" && slices.ContainsFunc(d.local, func(o map[string]any) bool {
		metadata, _ := o["metadata"].(map[string]any)
		return o["kind"] == kind && metadata["name"] == name
	})
}
