package admission

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	k8sadmission "k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/scanner/admission/apply"
	"github.com/preadmit/preadmit/scanner/admission/unknown"
)

// TestExported applies manifests with metadata that kubectl get shows. The expected answers are from make
// conformance-live.
func TestExported(t *testing.T) {
	configMap := func(metadata, data string) string {
		return "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: shop" + metadata + "}, data: {a: " + data + "}}"
	}
	widget := func(metadata, size string) string {
		return "{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: shop" + metadata + "}, spec: {size: " + size + "}}"
	}
	owners := ", ownerReferences: [{apiVersion: v1, kind: A, name: a, uid: u}, {apiVersion: v1, kind: A, name: a, uid: u}]"
	last := `, annotations: {kubectl.kubernetes.io/last-applied-configuration: "{\"old\":1}"}`
	annotation := []string{"metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"}
	renewed := `{"apiVersion":"v1","data":{"a":"x"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"c","namespace":"shop"}}` + "\n"
	all := []apply.Applier{apply.Flux, apply.ArgoCD, apply.ArgoCDSSA, apply.Kubectl, apply.KubectlSSA, apply.Replace, apply.LenientReplace}
	serverSide := []apply.Applier{apply.Flux, apply.ArgoCDSSA, apply.KubectlSSA}
	for _, test := range []struct {
		name         string
		before, sent string
		by           []apply.Applier
		field        []string
		// want is the field, the beginning of the refusal after "!", or that of the reason why it is
		// unknown after "?".
		want any
		// warning is the beginning of the only warning.
		warning string
	}{
		{
			name: "another resourceVersion", before: configMap("", "x"), sent: configMap(", resourceVersion: '12345'", "z"), by: all,
			want: "?whether the server takes the object depends on metadata.resourceVersion, which is not known: ",
		},
		{
			name: "the resourceVersion of before", before: configMap(", resourceVersion: '12345'", "x"), sent: configMap(", resourceVersion: '12345'", "z"), by: all,
			want: "?whether the server takes the object depends on metadata.resourceVersion",
		},
		{
			name: "no resourceVersion any more", before: configMap(", resourceVersion: '12345'", "x"), sent: configMap("", "z"), by: all,
			field: []string{"data", "a"}, want: "z",
		},
		{
			name: "a resourceVersion of a new object", sent: configMap(", resourceVersion: '12345'", "z"), by: all,
			field: []string{"data", "a"}, want: "z",
		},
		{
			name: "a resourceVersion that is no number", before: configMap("", "x"), sent: configMap(", resourceVersion: abc", "z"), by: all,
			want: `!strconv.ParseUint: parsing "abc": invalid syntax`,
		},
		{
			name: "a resourceVersion that is no number, of a new object", sent: configMap(", resourceVersion: abc", "z"), by: serverSide,
			want: `!strconv.ParseUint: parsing "abc": invalid syntax`,
		},
		{
			name: "an empty resourceVersion of a kind that may be updated without", before: configMap("", "x"), sent: configMap(", resourceVersion: ''", "z"), by: all,
			field: []string{"data", "a"}, want: "z",
		},
		{
			name: "an empty resourceVersion of a custom resource", before: widget("", "1"), sent: widget(", resourceVersion: ''", "2"), by: []apply.Applier{apply.Flux, apply.ArgoCD, apply.Kubectl},
			want: `!widgets.example.com "w" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`,
		},
		{
			name: "an empty resourceVersion of a custom resource that is replaced", before: widget("", "1"), sent: widget(", resourceVersion: ''", "2"), by: []apply.Applier{apply.Replace},
			field: []string{"spec", "size"}, want: int64(2),
		},
		{
			name: "a time of deletion of a new object", sent: configMap(", deletionTimestamp: '2024-01-01T00:00:00Z'", "z"), by: serverSide,
			field: []string{"metadata", "deletionTimestamp"}, want: "2024-01-01T00:00:00Z",
		},
		{
			name: "a time of deletion of a new object that is created", sent: configMap(", deletionTimestamp: '2024-01-01T00:00:00Z'", "z"), by: []apply.Applier{"", apply.ArgoCD, apply.Replace},
			field: []string{"metadata", "deletionTimestamp"},
		},
		{
			name: "a time of deletion that stays", before: configMap(", deletionTimestamp: '2024-01-01T00:00:00Z'", "x"), sent: configMap(", deletionTimestamp: '2024-01-01T00:00:00Z'", "z"), by: serverSide,
			field: []string{"data", "a"}, want: "z",
		},
		{
			name: "kubectl apply's annotation, replaced", before: configMap("", "x"), sent: configMap(last, "x"), by: []apply.Applier{apply.Replace, apply.LenientReplace, apply.KubectlSSA},
			field: annotation, want: renewed,
		},
		{
			name: "kubectl apply's annotation of a new object", sent: configMap(last, "x"), by: []apply.Applier{apply.Replace, apply.LenientReplace, apply.KubectlSSA, apply.Kubectl},
			field: annotation, want: renewed,
		},
		{
			name: "kubectl apply's annotation, applied by others", sent: configMap(last, "x"), by: []apply.Applier{"", apply.Flux, apply.ArgoCDSSA},
			field: annotation, want: `{"old":1}`,
		},
		{
			name: "equal owners that one was made of", before: configMap(owners, "x"), sent: configMap(owners, "z"), by: []apply.Applier{apply.ArgoCD, apply.Kubectl},
			field: []string{"metadata", "ownerReferences", "0", "uid"}, want: "u",
		},
		{
			name: "equal owners in a patch", before: widget("", "1"), sent: widget(owners, "2"), by: []apply.Applier{apply.ArgoCD, apply.Kubectl},
			field: []string{"spec", "size"}, want: int64(2), warning: ".metadata.ownerReferences contains duplicate entries after mutating admission happens; ",
		},
		{
			name: "equal owners that are sent", before: widget("", "1"), sent: widget(owners, "2"), by: []apply.Applier{"", apply.Replace},
			field: []string{"spec", "size"}, want: int64(2), warning: ".metadata.ownerReferences contains duplicate entries; ",
		},
	} {
		for _, by := range test.by {
			t.Run(test.name+"/"+string(by), func(t *testing.T) {
				a := ask("CREATE", object(t, test.sent), nil)
				if test.before != "" {
					a = ask("UPDATE", object(t, test.sent), object(t, test.before))
				}
				a.Applier = by
				req, warned, err := open(t, widgets).Prepare(t.Context(), a)
				var got any
				var refusal *apierrors.StatusError
				var not *unknown.Error
				switch {
				case errors.As(err, &refusal):
					got = "!" + refusal.ErrStatus.Message
				case errors.As(err, &not):
					got = "?" + not.Error()
				case err != nil:
					t.Fatal(err)
				default:
					got = at(seen(t, req), test.field)
				}
				if text, _ := test.want.(string); text != "" && strings.ContainsAny(text[:1], "!?") {
					if said, _ := got.(string); !strings.HasPrefix(said, text) {
						t.Errorf("got %v, want %s...", got, text)
					}
				} else if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if all := strings.Join(warned, "\n"); !strings.HasPrefix(all, test.warning) || (all == "") != (test.warning == "") {
					t.Errorf("warnings %q, want %q...", all, test.warning)
				}
			})
		}
	}
}

// TestVersionOfTheCluster updates an object of a cluster, with its resourceVersion.
func TestVersionOfTheCluster(t *testing.T) {
	manifest := func(version, data string) *Object {
		return object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: shop, uid: u"+version+"}, data: {a: "+data+"}}")
	}
	for version, want := range map[string]string{
		", resourceVersion: '7'": "",
		", resourceVersion: '8'": `Operation cannot be fulfilled on configmaps "c": the object has been modified; please apply your changes to the latest version and try again`,
		"":                       "",
	} {
		a := ask(k8sadmission.Update, manifest(version, "z"), manifest(", resourceVersion: '7'", "x"))
		a.Live, a.Applier = true, apply.Flux
		_, _, err := open(t).Prepare(t.Context(), a)
		if got := message(err); got != want {
			t.Errorf("manifest with %q: %q, want %q", version, got, want)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
