package admission

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	k8sadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/warning"

	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/scanner/admission/apply"
)

// TestRenewal: an update by server-side apply has the same result with managed fields and without, for
// generated updates of all kinds, and of objects to themselves.
func TestRenewal(t *testing.T) {
	examples := documents(t, "../../e2e/updates/examples/*.yaml")
	cluster := NewCluster(ClusterOptions{}, NewIndex(documents(t, "../../e2e/updates/state/*.yaml")))
	renewed, same, like, written, total := map[string]int{}, 0, 0, 0, testall.Count(1500, 6000)
	for seed := range uint64(total) {
		e := &editor{rand.New(rand.NewPCG(seed, 2))}
		base := runtime.DeepCopyJSON(examples[e.IntN(len(examples))].Content())
		for range e.IntN(4) {
			e.edit(base)
		}
		head := runtime.DeepCopyJSON(base)
		for range e.IntN(4) {
			e.edit(head)
		}
		by := []apply.Applier{apply.Flux, apply.ArgoCDSSA, apply.KubectlSSA}[e.IntN(3)]
		a := ClientRequest{Operation: k8sadmission.Update, User: &user.DefaultInfo{Name: "flux"}, OldObject: NewObject(base), Object: NewObject(head), Applier: by}
		if e.IntN(3) == 0 {
			a.Object = a.OldObject
		}
		kind := a.OldObject.GroupVersionKind()
		if kind != a.Object.GroupVersionKind() {
			continue
		}
		a.Storage = new(Storage)
		short := sameRenewed(t, fmt.Sprintf("seed %d, %s of %s by %s", seed, a.Operation, kind, by), cluster, a)
		if short.renewal != nil {
			renewed[kind.Kind]++
			if short.renewal.IsWritten() {
				written++
			}
			if content, err := a.Storage.object.Content(kind, short.handler.interfaces); err == nil && short.same {
				if _, ok := short.renewal.Again(a.Storage.object.Copy(), content); ok && a.Object == a.OldObject {
					same++
				} else if ok {
					like++
				}
			}
		}
	}
	all := 0
	for _, n := range renewed {
		all += n
	}
	t.Logf("%d of %d renewed, %d of them as they were, %d with other scalars, %d as they are written, of %d kinds", all, total, same, like, written, len(renewed))
	if all < total/3 || same < total/8 || like < total/8 || written < total/8 || len(renewed) < 30 {
		t.Errorf("%d of %d updates need no managers, %d of them nothing else, %d but other scalars, %d read as they are written, of the kinds %v", all, total, same, like, written, slices.Sorted(maps.Keys(renewed)))
	}
}

// sameRenewed processes an update without managed fields and checks that the result is the same with them. It
// returns the preparation without.
func sameRenewed(t *testing.T, name string, cluster *Cluster, a ClientRequest) *preparation {
	t.Helper()
	short := newUpdate(t, cluster, a)
	got := short.result(t, short.updated)
	short = newUpdate(t, cluster, a) // with the cached parts of the objects
	if diff := cmp.Diff(got, short.result(t, short.updated)); diff != "" {
		t.Fatalf("%s, again (-first +second):\n%s", name, diff)
	}
	a.Storage = nil
	long := newUpdate(t, cluster, a)
	want := long.result(t, func(ctx context.Context) (old, obj runtime.Object, m metav1.Object, err error) {
		if old, err = long.stored(); err == nil {
			obj, m, err = long.sent(ctx, a.Object, old)
		}
		return old, obj, m, err
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s (-with managers +without):\n%s", name, diff)
	}
	return short
}

// TestRenewedCustomResource: the null creationTimestamp that Flux sends becomes that of the stored custom
// resource if something else differs.
func TestRenewedCustomResource(t *testing.T) {
	cluster := NewCluster(ClusterOptions{}, NewIndex(documents(t, "../../e2e/updates/state/*.yaml")))
	widget := func(label string, size int) *Object {
		return object(t, fmt.Sprintf(`{apiVersion: updates.example.com/v1, kind: Widget, metadata: {name: a, namespace: updates, labels: {a: %s}}, spec: {size: %d, color: red, mode: auto}}`, label, size))
	}
	base := widget("x", 1)
	for name, head := range map[string]*Object{"the same": base, "another label": widget("y", 1), "another size": widget("x", 2)} {
		for _, by := range []apply.Applier{apply.Flux, apply.ArgoCDSSA, apply.KubectlSSA} {
			a := ClientRequest{Operation: k8sadmission.Update, User: &user.DefaultInfo{Name: "flux"}, OldObject: base, Object: head, Applier: by, Storage: new(Storage)}
			sameRenewed(t, fmt.Sprintf("%s by %s", name, by), cluster, a)
		}
	}
}

// TestPropertyNamedKind updates a definition whose schema has fields called kind and apiVersion.
func TestPropertyNamedKind(t *testing.T) {
	definition := func(text string) *Object {
		return object(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: shops.example.com}, spec: {
			group: example.com, scope: Namespaced, names: {kind: Shop, listKind: ShopList, plural: shops, singular: shop},
			versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {
			apiVersion: {type: string}, kind: {type: string, description: `+text+`}}}}}]}}`)
	}
	a := ClientRequest{
		Operation: k8sadmission.Update, User: &user.DefaultInfo{Name: "flux"}, Applier: apply.Flux,
		OldObject: definition("the kind"), Object: definition("the kind of a shop"), Storage: new(Storage),
	}
	if _, _, err := NewCluster(ClusterOptions{}, NewIndex(nil)).Prepare(t.Context(), a); err != nil {
		t.Error(err)
	}
}

// TestStorage: requests about one object have the same result with a shared Storage as without.
func TestStorage(t *testing.T) {
	examples := documents(t, "../../e2e/updates/examples/*.yaml")
	cluster := NewCluster(ClusterOptions{}, NewIndex(documents(t, "../../e2e/updates/state/*.yaml")))
	shared := 0
	for seed := range uint64(testall.Count(300, 2500)) {
		e := &editor{rand.New(rand.NewPCG(seed, 4))}
		base := runtime.DeepCopyJSON(examples[e.IntN(len(examples))].Content())
		head := runtime.DeepCopyJSON(base)
		e.edit(head)
		by := []apply.Applier{apply.Flux, apply.ArgoCD, apply.KubectlSSA, apply.Replace}[e.IntN(4)]
		first := ClientRequest{Operation: k8sadmission.Update, User: &user.DefaultInfo{Name: "flux"}, OldObject: NewObject(base), Object: NewObject(head), Applier: by}
		second, storage := first, new(Storage)
		second.Object = first.OldObject
		for _, a := range []ClientRequest{first, second, first} {
			want, whole, wantErr := prepareSeen(t, cluster, a)
			if by.Merges() && wantErr != nil {
				continue // kubectl's merge puts items without a key in any order
			}
			a.Storage = storage
			got, of, err := prepareSeen(t, cluster, a)
			if diff := cmp.Diff(want, got); diff != "" || fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("seed %d, %s of %s by %s: %v, want %v (-without +with):\n%s", seed, a.Operation, a.Object.GroupVersionKind(), by, err, wantErr, diff)
			}
			if whole != nil && of.isStored(of.GetOldObject()) {
				shared++
			}
		}
	}
	if shared < 300 {
		t.Errorf("%d old objects are those that are kept", shared)
	}
}

// prepareSeen prepares a request and returns the values that policies see.
func prepareSeen(t *testing.T, c *Cluster, a ClientRequest) (seen []any, req *Request, err error) {
	t.Helper()
	req, warned, err := c.Prepare(t.Context(), a)
	if seen = append(seen, warned); err != nil {
		return seen, nil, err
	}
	alone, err := req.ObjectIn(req.GetKind())
	if err != nil {
		t.Fatal(err)
	}
	v, err := req.Version(req.GetKind())
	if err != nil {
		t.Fatal(err)
	}
	return append(seen, alone, v.Object, v.OldObject, req.Dropped()), req, nil
}

// newUpdate returns the preparation of an update, up to the creation of its objects.
func newUpdate(t *testing.T, c *Cluster, a ClientRequest) *preparation {
	t.Helper()
	h, err := c.handler(a.Object.GroupVersionKind())
	if err != nil {
		t.Fatal(err)
	}
	a.controls = c.controlledFieldsOf(a)
	return &preparation{cluster: c, handler: h, client: a, namespace: c.requestNamespace(h.resource, a.Object), name: a.Object.Name()}
}

// byteOfInput matches the position at which base64 is invalid.
var byteOfInput = regexp.MustCompile(`at input byte \d+`)

// result returns both objects as policies see them, or the refusal.
func (p *preparation) result(t *testing.T, updated func(context.Context) (old, obj runtime.Object, m metav1.Object, err error)) (all []any) {
	t.Helper()
	var warned warnings
	old, obj, _, err := updated(p.context(warning.WithWarningRecorder(t.Context(), &warned)))
	text := byteOfInput.ReplaceAllString(fmt.Sprint(err), "") // of the first of several keys, in random order
	all = append(all, text, warned.texts, p.dropped)
	if err != nil {
		return all
	}
	for _, o := range []runtime.Object{old, obj} {
		version, err := k8sadmission.ConvertToGVK(untracked(o), p.handler.resource.Kind, p.handler.interfaces)
		if err != nil {
			t.Fatal(err)
		}
		content, err := Content(version)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, content)
	}
	return all
}

// documents returns the objects of files.
func documents(t *testing.T, pattern string) (all []*Object) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
			all = append(all, object(t, string(document)))
		}
	}
	return all
}

// editor makes random edits to objects.
type editor struct{ *rand.Rand }

// edit changes one place outside of the fields that identify the object.
func (e *editor) edit(o map[string]any) {
	keys := slices.DeleteFunc(slices.Sorted(maps.Keys(o)), func(key string) bool { return key == "apiVersion" || key == "kind" })
	if metadata, ok := o["metadata"].(map[string]any); ok && e.IntN(4) == 0 {
		metadata["labels"] = map[string]any{"a": fmt.Sprint(e.IntN(3)), "b": "x"}
		return
	}
	if keys = slices.DeleteFunc(keys, func(key string) bool { return key == "metadata" }); len(keys) > 0 {
		e.field(o, keys[e.IntN(len(keys))])
	}
}

// field changes a field, or a value in it.
func (e *editor) field(in map[string]any, key string) {
	switch v := in[key].(type) {
	case map[string]any:
		if len(v) > 0 && e.IntN(8) > 0 {
			keys := slices.Sorted(maps.Keys(v))
			e.field(v, keys[e.IntN(len(keys))])
			return
		}
	case []any:
		if len(v) > 0 && e.IntN(4) > 0 {
			in[key] = e.items(v)
			return
		}
	}
	switch e.IntN(6) {
	case 0:
		delete(in, key)
	case 1:
		in[key] = empty(in[key])
	default:
		in[key] = e.other(in[key])
	}
}

// items changes a list.
func (e *editor) items(list []any) []any {
	at := e.IntN(len(list))
	switch e.IntN(8) {
	case 0:
		return slices.Delete(slices.Clone(list), at, at+1)
	case 1:
		return append(slices.Clone(list), runtime.DeepCopyJSONValue(list[at]))
	case 2:
		list = slices.Clone(list)
		slices.Reverse(list)
		return list
	}
	if item, ok := list[at].(map[string]any); ok && len(item) > 0 {
		keys := slices.Sorted(maps.Keys(item))
		e.field(item, keys[e.IntN(len(keys))])
		return list
	}
	list[at] = e.other(list[at])
	return list
}

// other returns another value of the same type.
func (e *editor) other(value any) any {
	switch v := value.(type) {
	case string:
		return []any{v + "x", "1000m", "1", "0.5Gi", ""}[e.IntN(5)]
	case int64:
		return v + int64(e.IntN(3))
	case bool:
		return !v
	}
	return value
}

// empty returns the empty value of a type.
func empty(value any) any {
	switch value.(type) {
	case map[string]any:
		return map[string]any{}
	case []any:
		return []any{}
	case string:
		return ""
	case int64:
		return int64(0)
	case bool:
		return false
	}
	return nil
}

// TestWritten: Written is nil for a manifest if applying it may do more than write it.
func TestWritten(t *testing.T) {
	h, err := NewCluster(ClusterOptions{}, NewIndex(nil)).handler(schema.GroupVersionKind{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"})
	if err != nil {
		t.Fatal(err)
	}
	fields, err := h.fields()
	if err != nil {
		t.Fatal(err)
	}
	annotated := `metadata: {name: a, annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}"}}, spec: {maxReplicas: 2}`
	for name, test := range map[string]struct {
		by       apply.Applier
		manifest string
		want     bool
	}{
		"written":                             {apply.Flux, `apiVersion: autoscaling/v2, metadata: {name: a}, spec: {maxReplicas: 2}`, true},
		"in another version":                  {apply.Flux, `apiVersion: autoscaling/v1, metadata: {name: a}, spec: {maxReplicas: 2}`, false},
		"with a time, which Flux leaves out":  {apply.Flux, `apiVersion: autoscaling/v2, metadata: {name: a, creationTimestamp: "2020-01-01T00:00:00Z"}, spec: {maxReplicas: 2}`, false},
		"with managers":                       {apply.Flux, `apiVersion: autoscaling/v2, metadata: {name: a, managedFields: []}, spec: {maxReplicas: 2}`, false},
		"with what kubectl keeps up to date":  {apply.KubectlSSA, `apiVersion: autoscaling/v2, ` + annotated, false},
		"with an annotation that others keep": {apply.ArgoCDSSA, `apiVersion: autoscaling/v2, ` + annotated, true},
	} {
		manifest := object(t, `{kind: HorizontalPodAutoscaler, `+test.manifest+`}`).Content()
		if got := fields.Written(manifest, test.by) != nil; got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}
