package snapshot

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json" // keeps whole numbers
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// Options configures what is read.
type Options struct {
	// Only are the kinds to read instead of the default ones, and Also additional ones: KIND,
	// KIND.GROUP or plurals.
	Only, Also []string
	// SecretValues is set to include the values of Secrets, not only their keys.
	SecretValues bool
	// Now is the time of the snapshot.
	Now time.Time
}

// Snapshot has the objects that were read.
type Snapshot struct {
	Header
	// Missed has the kinds that could not be read, each with the reason.
	Missed  []string
	objects []*unstructured.Unstructured
}

// Take reads a cluster. It returns an error if the server cannot be used at all; kinds that
// cannot be read are in Missed.
func Take(ctx context.Context, cluster *rest.Config, o Options) (*Snapshot, error) {
	client, err := discovery.NewDiscoveryClientForConfig(cluster)
	if err != nil {
		return nil, err
	}
	version, err := client.ServerVersion()
	if err != nil {
		return nil, fmt.Errorf("ask the server for its version: %w", err)
	}
	t := &taking{Options: o, client: client.RESTClient(), read: map[schema.GroupKind]bool{}}
	t.Header = newHeader(cluster.Host, version.GitVersion, o.Now)
	lists, err := client.ServerPreferredResources()
	failed := new(discovery.ErrGroupDiscoveryFailed)
	switch {
	case errors.As(err, &failed):
		for group, err := range failed.Groups {
			t.Missed = append(t.Missed, fmt.Sprintf("all of %s: %v", group, err))
		}
		slices.Sort(t.Missed)
	case err != nil:
		return nil, fmt.Errorf("ask the server for its kinds: %w", err)
	}
	if t.all, err = kindsOf(lists); err != nil {
		return nil, err
	}
	if err := t.kinds(ctx); err != nil {
		return nil, err
	}
	slices.SortFunc(t.objects, func(a, b *unstructured.Unstructured) int {
		x, y := a.GroupVersionKind(), b.GroupVersionKind()
		return cmp.Or(cmp.Compare(x.Group, y.Group), cmp.Compare(x.Kind, y.Kind), cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	slices.Sort(t.Complete)
	return &t.Snapshot, nil
}

// taking is a snapshot in progress.
type taking struct {
	Options
	Snapshot
	client rest.Interface
	all    []served
	read   map[schema.GroupKind]bool
}

// kinds reads all requested kinds, then those of params.
func (t *taking) kinds(ctx context.Context) error {
	var asked []served
	for _, name := range slices.Concat(t.Only, t.Also) {
		kind, err := findKind(t.all, name)
		if err != nil {
			return err
		}
		asked = append(asked, kind)
	}
	if len(t.Only) == 0 {
		for _, kind := range DefaultKinds() {
			i := slices.IndexFunc(t.all, func(s served) bool { return s.GroupKind() == kind })
			if i < 0 { // the server is too old for this kind
				continue
			}
			asked = append(asked, t.all[i])
		}
	}
	for i := 0; i < len(asked); i++ {
		if err := t.kind(ctx, asked[i]); err != nil {
			return err
		}
		if i == len(asked)-1 && len(t.Only) == 0 {
			asked = append(asked, t.params()...)
		}
	}
	return nil
}

// params returns the kinds of params of policies that were not read yet.
func (t *taking) params() []served {
	var more []served
	for _, o := range t.objects {
		apiVersion, _, _ := unstructured.NestedString(o.Object, "spec", "paramKind", "apiVersion")
		name, _, _ := unstructured.NestedString(o.Object, "spec", "paramKind", "kind")
		kind := schema.FromAPIVersionAndKind(apiVersion, name).GroupKind()
		if i := slices.IndexFunc(t.all, func(s served) bool { return s.GroupKind() == kind }); i >= 0 && !t.read[kind] && !slices.Contains(more, t.all[i]) {
			more = append(more, t.all[i])
		}
	}
	return more
}

// page is the number of objects per list request.
const page = 500

// kind reads the objects of a kind. A kind that cannot be listed is added to Missed.
func (t *taking) kind(ctx context.Context, of served) error {
	if t.read[of.GroupKind()] {
		return nil
	}
	t.read[of.GroupKind()] = true
	before := len(t.objects)
	for next := ""; ; {
		query := url.Values{"limit": {strconv.Itoa(page)}}
		if next != "" {
			query.Set("continue", next)
		}
		data, err := t.client.Get().RequestURI(of.path() + "?" + query.Encode()).DoRaw(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case apierrors.IsResourceExpired(err) && next != "": // the list changed meanwhile
			next, t.objects = "", t.objects[:before]
			continue
		case err != nil:
			t.objects = t.objects[:before]
			t.Missed = append(t.Missed, fmt.Sprintf("%s: %s", kindName(of.GroupKind()), serverMessage(data, err)))
			return nil
		}
		list := map[string]any{}
		if err := json.Unmarshal(data, &list); err != nil {
			return fmt.Errorf("read the server's list of %s: %w", of.plural, err)
		}
		items, _, err := unstructured.NestedSlice(list, "items")
		if err != nil {
			return fmt.Errorf("read the server's list of %s: %w", of.plural, err)
		}
		for _, item := range items {
			if item, ok := item.(map[string]any); ok {
				t.objects = append(t.objects, t.reduced(of, item))
			}
		}
		if next, _, _ = unstructured.NestedString(list, "metadata", "continue"); next == "" {
			t.Complete = append(t.Complete, kindName(of.GroupKind()))
			return nil
		}
	}
}

// serverMessage returns the server's message, or that of the error.
func serverMessage(body []byte, err error) string {
	var status metav1.Status
	if json.Unmarshal(body, &status) == nil && status.Message != "" {
		return status.Message
	}
	return err.Error()
}

// reduced returns an object without the fields that do not affect decisions.
func (t *taking) reduced(of served, item map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: item}
	o.SetGroupVersionKind(of.GroupVersionKind)
	o.SetManagedFields(managersOf(o))
	unstructured.RemoveNestedField(o.Object, "metadata", "resourceVersion")
	if of.GroupKind() != (schema.GroupKind{Kind: "Namespace"}) {
		unstructured.RemoveNestedField(o.Object, "status")
	}
	annotations := o.GetAnnotations()
	if kind := of.GroupKind(); kind == (schema.GroupKind{Kind: "Secret"}) || kind == kinds.Definition { // it repeats the values, or a large object
		delete(annotations, corev1.LastAppliedConfigAnnotation)
	}
	if data, ok := item["data"].(map[string]any); ok && of.GroupKind() == (schema.GroupKind{Kind: "Secret"}) && !t.SecretValues {
		for key := range data {
			data[key] = ""
		}
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[render.OmittedAnnotation] = "data"
	}
	if len(annotations) == 0 {
		unstructured.RemoveNestedField(o.Object, "metadata", "annotations")
	} else {
		o.SetAnnotations(annotations)
	}
	return o
}

// managersOf returns the managed fields of an object, except those of subresources. It leaves out the
// times, which change with every run of a controller and do not affect decisions.
func managersOf(o *unstructured.Unstructured) []metav1.ManagedFieldsEntry {
	var managers []metav1.ManagedFieldsEntry
	for _, e := range o.GetManagedFields() {
		if e.Subresource == "" {
			e.Time = nil
			managers = append(managers, e)
		}
	}
	return managers
}

// Count returns the number of objects.
func (s *Snapshot) Count() int { return len(s.objects) }

// Encode returns the content of the file. Equal snapshots give equal bytes.
func (s *Snapshot) Encode() ([]byte, error) {
	var b bytes.Buffer
	head, err := yaml.Marshal(s.Header)
	if err != nil {
		return nil, err
	}
	b.Write(head)
	for _, o := range s.objects {
		text, err := yaml.Marshal(o.Object)
		if err != nil {
			return nil, err
		}
		b.WriteString("---\n")
		b.Write(text)
	}
	return b.Bytes(), nil
}
