package admission

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/scanner/kinds"
)

// TestServiceAccount: the volumes and secrets that Pods get from their account.
func TestServiceAccount(t *testing.T) {
	const (
		plain     = `{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: shop}, spec: {containers: [{name: c, image: nginx}]}}`
		quiet     = "{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: shop}, automountServiceAccountToken: false, imagePullSecrets: [{name: registry}]}"
		elsewhere = "{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: other}}"
	)
	named := strings.Replace(plain, "spec: {", "spec: {serviceAccountName: nope, ", 1)
	for _, test := range []struct {
		name, pod, state string
		known            kinds.Complete
		account          any
		volumes, secrets int
		refusal          string
	}{
		{"nothing known", plain, elsewhere, kinds.Complete{}, "default", 1, 0, ""},
		{"the account mounts nothing", plain, quiet, kinds.Complete{}, "default", 0, 1, ""},
		{"the Pod asks for it", strings.Replace(plain, "spec: {", "spec: {automountServiceAccountToken: true, ", 1), quiet, kinds.Complete{}, "default", 1, 1, ""},
		{"an account of which nothing is known", named, quiet, kinds.Complete{}, "", 0, 0, `whether the server takes the Pod depends on spec.serviceAccountName, which is not known: ServiceAccount "nope" is not in the repository`},
		{"an account of which nothing is known, of a Pod that a controller makes", strings.Replace(named, "name: p,", "generateName: p-,", 1), quiet, kinds.Complete{}, "nope", 1, 0, ""},
		{"an account that is not there", named, quiet, kinds.CompleteOf(kinds.ServiceAccount), "", 0, 0, `pods "p" is forbidden: error looking up service account shop/nope: serviceaccount "nope" not found`},
		{"default is always there", plain, elsewhere, kinds.CompleteOf(kinds.ServiceAccount), "default", 1, 0, ""},
		{"a server without the plugin", plain, elsewhere, kinds.CompleteAll(), nil, 0, 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := NewCluster(ClusterOptions{Known: test.known}, NewIndex([]*Object{object(t, test.state), object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}")}))
			request := ask("CREATE", object(t, test.pod), nil)
			request.GeneratedName = request.Object.GenerateName() != ""
			req, _, err := c.Prepare(t.Context(), request)
			if err != nil {
				if err.Error() != test.refusal {
					t.Error(err)
				}
				return
			}
			spec := seen(t, req)["spec"].(map[string]any)
			volumes, _ := spec["volumes"].([]any)
			secrets, _ := spec["imagePullSecrets"].([]any)
			if diff := cmp.Diff([]any{test.account, test.volumes, test.secrets}, []any{spec["serviceAccountName"], len(volumes), len(secrets)}); diff != "" {
				t.Errorf("account, volumes, secrets (-want +got):\n%s", diff)
			}
			again, _, err := c.Prepare(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(seen(t, req), seen(t, again)); diff != "" {
				t.Errorf("a second time (-first +second):\n%s", diff)
			}
		})
	}
}
