package release_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/helm/values"
)

// deployments returns the directory of recorded releases, beside the repository.
func deployments() string {
	if dir := os.Getenv("PREADMIT_DEPLOYMENTS"); dir != "" {
		return dir
	}
	return "../../../../shared/deployments"
}

// unit is an entry of a units.json.
type unit struct {
	ID, Kind, Namespace, Name string
	Suspended                 bool
	MissingSource, Error      string
	MissingChart              any
	ReleaseNamespace          string
	Reasons                   []string
	Chart                     struct{ File string }
	Ignore                    []struct{ Object, Path, Reason string }
	SchemaError               string
}

// TestRecorded renders every recorded HelmRelease and compares the objects with those that Flux's and Helm's
// own code made.
func TestRecorded(t *testing.T) {
	sets, _ := filepath.Glob(filepath.Join(deployments(), "flux", "*", "expected*", "units.json"))
	if len(sets) == 0 {
		t.Skipf("no recorded deployments in %s", deployments())
	}
	charts := map[string]*release.Chart{}
	for _, file := range sets {
		dir := filepath.Dir(file)
		if filepath.Base(dir) != "expected" && !testall.Enabled() {
			continue
		}
		t.Run(filepath.Base(filepath.Dir(dir))+"/"+filepath.Base(dir), func(t *testing.T) {
			checkSet(t, dir, charts)
		})
	}
}

func checkSet(t *testing.T, dir string, charts map[string]*release.Chart) {
	var units []unit
	readJSON(t, filepath.Join(dir, "units.json"), &units)
	var entry struct {
		KubeVersion string   `json:"kubeVersion"`
		APIVersions []string `json:"apiVersions"`
	}
	readJSON(t, filepath.Join(filepath.Dir(dir), "entry.json"), &entry)
	applied := appliedObjects(t, filepath.Join(filepath.Dir(dir), "expected"))
	if filepath.Base(dir) != "expected" {
		for key, object := range appliedObjects(t, dir) {
			applied[key] = object
		}
	}
	capabilities, err := values.Capabilities(entry.KubeVersion, entry.APIVersions)
	if err != nil {
		t.Fatal(err)
	}
	all, equal, left := 0, 0, 0
	for _, u := range units {
		name := fmt.Sprintf("%s__%s__%s", u.Kind, u.Namespace, u.Name)
		if u.Kind != "HelmRelease" {
			continue
		}
		if u.Suspended || u.MissingSource != "" || u.Error != "" || u.MissingChart != nil {
			left++
			continue
		}
		object, ok := applied["HelmRelease/"+u.Namespace+"/"+u.Name]
		if _, err := os.Stat(filepath.Join(dir, name+".yaml")); err != nil || !ok {
			left++ // at base only differences from head are recorded
			continue
		}
		all++
		c := charts[u.Chart.File]
		if c == nil {
			data, err := os.ReadFile(filepath.Join(deployments(), "charts", "flux", u.Chart.File))
			if err != nil {
				t.Fatal(err)
			}
			read, err := chart.FromArchive(data, chart.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			c = release.NewChart(read)
			charts[u.Chart.File] = c
		}
		h, err := release.ParseHelmRelease(object)
		if err != nil {
			t.Fatal(err)
		}
		user, err := h.Values(references(h, applied))
		if err != nil {
			t.Errorf("%s: %v", u.ID, err)
			continue
		}
		rendered, err := h.Release(c, user, capabilities, false).Render(t.Context())
		if err != nil {
			t.Errorf("%s: %v", u.ID, err)
			continue
		}
		lines := u.compare("object", read(t, filepath.Join(dir, name+".yaml")), rendered.Objects)
		lines = append(lines, u.compare("hook", read(t, filepath.Join(dir, name+".hooks.yaml")), rendered.Hooks)...)
		lines = append(lines, u.compare("definition", read(t, filepath.Join(dir, name+".crds.yaml")), rendered.CRDs)...)
		lines = append(lines, u.chance(slices.Concat(rendered.Objects, rendered.Hooks))...)
		if len(lines) == 0 {
			equal++
			continue
		}
		t.Errorf("%s (%s), %d differences:\n%s", u.ID, u.Chart.File, len(lines), strings.Join(lines[:min(len(lines), 6)], "\n"))
	}
	t.Logf("%d of %d releases equal the recorded ones, %d have nothing recorded", equal, all, left)
}

func readJSON(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatal(file, err)
	}
}

// read returns the objects of a recorded file; for hooks, the objects in them.
func read(t *testing.T, file string) []map[string]any {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	var all []map[string]any
	for _, text := range bytes.Split(append([]byte("\n"), data...), []byte("\n---\n")) {
		var object map[string]any
		if err := sigsyaml.Unmarshal(append(bytes.Clone(text), '\n'), &object); err != nil {
			t.Fatal(file, err)
		}
		if inner, ok := object["object"].(map[string]any); ok {
			object = inner
		}
		if object != nil {
			all = append(all, object)
		}
	}
	return all
}

// appliedObjects returns the HelmReleases, ConfigMaps and Secrets that Kustomizations apply.
func appliedObjects(t *testing.T, dir string) map[string]json.RawMessage {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "Kustomization__*.yaml"))
	all := map[string]json.RawMessage{}
	for _, file := range files {
		for _, object := range read(t, file) {
			metadata, _ := object["metadata"].(map[string]any)
			switch object["kind"] {
			case "HelmRelease", "ConfigMap", "Secret":
				data, _ := json.Marshal(object)
				all[fmt.Sprintf("%v/%v/%v", object["kind"], metadata["namespace"], metadata["name"])] = data
			}
		}
	}
	return all
}

// references resolves the references of a HelmRelease; missing objects are left out, as in the recording.
func references(h *release.HelmRelease, applied map[string]json.RawMessage) []values.Reference {
	var all []values.Reference
	for _, from := range h.Spec.ValuesFrom {
		var object struct {
			Data       map[string]string
			StringData map[string]string
		}
		if json.Unmarshal(applied[from.Kind+"/"+h.Namespace+"/"+from.Name], &object) != nil {
			continue
		}
		data := []byte(object.Data[from.Key()])
		if from.Kind == "Secret" {
			_ = json.Unmarshal([]byte(strconv.Quote(object.Data[from.Key()])), &data) // Base64
		}
		if text, ok := object.StringData[from.Key()]; ok {
			data = []byte(text)
		}
		if len(data) > 0 {
			all = append(all, values.Reference{Name: from.Name, Data: data, TargetPath: from.TargetPath, Literal: from.Literal})
		}
	}
	return all
}

// chance returns the differences between unknown fields and fields that differed when the recording was
// repeated.
func (u *unit) chance(objects []*release.Object) []string {
	random := map[string][]string{}
	for _, i := range u.Ignore {
		if i.Reason == "random" {
			random[i.Object] = append(random[i.Object], i.Path)
		}
	}
	var lines []string
	for _, o := range objects {
		var content map[string]any
		_ = json.Unmarshal(o.JSON, &content)
		var got []string
		for _, unknown := range o.Unknown {
			if strings.Contains(unknown.Reason, "looks it up") {
				continue // the recording has an empty cluster
			}
			pointer := ""
			for _, part := range unknown.Path {
				pointer += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(part)
			}
			got = append(got, pointer)
		}
		if slices.Equal(got, []string{"/metadata/name"}) {
			continue // the recording names another object
		}
		if slices.ContainsFunc(o.Unknown, func(unknown render.Unknown) bool { return len(unknown.Path) == 0 }) {
			continue
		}
		want := append(random[rawKey(content)], random[u.key(content)]...)
		slices.Sort(got)
		slices.Sort(want)
		if want = slices.Compact(want); !slices.Equal(got, want) {
			lines = append(lines, fmt.Sprintf("%s: unknown are %q, want %q", u.key(content), got, want))
		}
	}
	return lines
}

// compare returns how objects differ from the recorded ones.
func (u *unit) compare(what string, want []map[string]any, objects []*release.Object) []string {
	ignored := map[string][]string{}
	for _, i := range u.Ignore {
		ignored[i.Object] = append(ignored[i.Object], i.Path)
	}
	got := map[string][]map[string]any{}
	for _, o := range objects {
		var content map[string]any
		_ = json.Unmarshal(o.JSON, &content)
		got[u.key(content)] = append(got[u.key(content)], content)
	}
	var lines []string
	surplus := len(objects)
	for _, w := range want {
		key := u.key(w)
		paths := append(slices.Clone(ignored[key]), ignored[rawKey(w)]...)
		if slices.Contains(paths, "") {
			surplus--
			continue
		}
		candidates := got[key]
		if len(candidates) == 0 {
			lines = append(lines, what+" missing: "+key)
			continue
		}
		surplus--
		best, at := "", 0
		for i, c := range candidates {
			d := u.difference(w, c, paths)
			if i == 0 || len(d) < len(best) {
				best, at = d, i
			}
		}
		got[key] = slices.Delete(slices.Clone(candidates), at, at+1)
		if best != "" {
			lines = append(lines, what+" differs: "+key+best)
		}
	}
	if surplus != 0 {
		lines = append(lines, fmt.Sprintf("%d %ss too many", surplus, what))
		for key, left := range got {
			if len(left) > 0 {
				lines = append(lines, "  "+key)
			}
		}
	}
	return lines
}

func rawKey(o map[string]any) string {
	metadata, _ := o["metadata"].(map[string]any)
	namespace, _ := metadata["namespace"].(string)
	return fmt.Sprintf("%v|%v|%s|%v", o["apiVersion"], o["kind"], namespace, metadata["name"])
}

// key identifies an object; without a namespace it is in that of the release.
func (u *unit) key(o map[string]any) string {
	metadata, _ := o["metadata"].(map[string]any)
	namespace, _ := metadata["namespace"].(string)
	if namespace == "" {
		namespace = u.ReleaseNamespace
	}
	return fmt.Sprintf("%v|%v|%s|%v", o["apiVersion"], o["kind"], namespace, metadata["name"])
}

func (u *unit) difference(want, got map[string]any, ignored []string) string {
	if digest, ok := want["x-digest"].(string); ok {
		if text := fmt.Sprintf("sha256:%x", sha256.Sum256(canonical(got))); text != digest {
			return " by its digest"
		}
		return ""
	}
	w, g := normal(want, u.ReleaseNamespace), normal(got, u.ReleaseNamespace)
	for _, path := range ignored {
		erase(w, path)
		erase(g, path)
	}
	for _, o := range []map[string]any{w, g} {
		metadata, _ := o["metadata"].(map[string]any)
		for _, key := range []string{"labels", "annotations"} {
			if m, ok := metadata[key].(map[string]any); ok && len(m) == 0 {
				delete(metadata, key)
			}
		}
	}
	return firstDifference(w, g, "")
}

// canonical returns the JSON that recorded digests are computed from.
func canonical(v any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(v)
	return bytes.ReplaceAll(bytes.ReplaceAll(bytes.TrimSuffix(b.Bytes(), []byte("\n")), []byte(`\u2028`), []byte("\u2028")), []byte(`\u2029`), []byte("\u2029"))
}

// normal returns a copy of an object without nulls and with a namespace.
func normal(o map[string]any, namespace string) map[string]any {
	copied, _ := withoutNull(o).(map[string]any)
	if metadata, ok := copied["metadata"].(map[string]any); ok && metadata["namespace"] == nil {
		metadata["namespace"] = namespace
	}
	return copied
}

func withoutNull(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			if value != nil {
				out[key] = withoutNull(value)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			out = append(out, withoutNull(item))
		}
		return out
	case int64:
		return float64(v)
	}
	return v
}

// erase removes the value at a JSON pointer.
func erase(o map[string]any, pointer string) {
	parts := strings.Split(pointer, "/")[1:]
	var at any = o
	for i, part := range parts {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		switch v := at.(type) {
		case map[string]any:
			if i == len(parts)-1 {
				delete(v, part)
				return
			}
			at = v[part]
		case []any:
			n, err := strconv.Atoi(part)
			if err != nil || n >= len(v) {
				return
			}
			if i == len(parts)-1 {
				v[n] = "<ignored>"
				return
			}
			at = v[n]
		}
	}
}

func firstDifference(want, got any, path string) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	w, isMap := want.(map[string]any)
	g, bothMaps := got.(map[string]any)
	if isMap && bothMaps {
		for key := range g {
			if _, ok := w[key]; !ok {
				return fmt.Sprintf(" %s/%s: got %v, want nothing", path, key, g[key])
			}
		}
		for key, value := range w {
			if d := firstDifference(value, g[key], path+"/"+key); d != "" {
				return d
			}
		}
	}
	lw, isList := want.([]any)
	lg, bothLists := got.([]any)
	if isList && bothLists && len(lw) == len(lg) {
		for i := range lw {
			if d := firstDifference(lw[i], lg[i], path+"/"+strconv.Itoa(i)); d != "" {
				return d
			}
		}
	}
	gotText, wantText := fmt.Sprintf("%#v", got), fmt.Sprintf("%#v", want)
	at := 0
	for at < min(len(gotText), len(wantText)) && gotText[at] == wantText[at] {
		at++
	}
	at = max(at-30, 0)
	return fmt.Sprintf(" %s: got ...%.80s, want ...%.80s", path, gotText[at:], wantText[at:])
}
