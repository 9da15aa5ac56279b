package server_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	k8sadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/server"
)

var admin = &user.DefaultInfo{Name: "admin", Groups: []string{user.SystemPrivilegedGroup}}

// objects parses the documents of a YAML text.
func objects(text string) []*admission.Object {
	var all []*admission.Object
	for _, document := range strings.Split(text, "\n---\n") {
		data, err := yaml.YAMLToJSON([]byte(document))
		if err != nil {
			panic(err)
		}
		all = append(all, admission.ParseObject(data))
	}
	return all
}

// policyText returns a policy for ConfigMaps with its binding.
func policyText(name, expression string) string {
	return fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}
  validations:
  - expression: %[2]q
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s, validationActions: [Deny]}`, name, expression)
}

func create(text string) admission.ClientRequest {
	return admission.ClientRequest{Operation: k8sadmission.Create, User: admin, Object: objects(text)[0]}
}

func Example() {
	ctx := context.Background()
	state := objects(policyText("named", "object.metadata.name != 'b'"))
	b := server.NewBuilder(server.Options{ClusterOptions: admission.ClusterOptions{Known: kinds.CompleteAll()}, User: admin})
	cluster := b.Cluster(admission.NewIndex(state))
	s := b.Server(server.View{Cluster: cluster, Policies: b.Load(ctx, cluster, state).Set})

	for _, name := range []string{"a", "b"} {
		verdict, err := s.Review(ctx, create("{apiVersion: v1, kind: ConfigMap, metadata: {name: "+name+"}}"))
		if err != nil {
			fmt.Println(err)
			return
		}
		answer := verdict.Response()
		fmt.Println(strings.TrimSpace(fmt.Sprintln(answer.Allowed, answer.Code, answer.Message)))
	}
	// Output:
	// true 0
	// false 422 configmaps "b" is forbidden: ValidatingAdmissionPolicy 'named' with binding 'named' denied request: failed expression: object.metadata.name != 'b'
}

// build returns the server with one view for each of the texts.
func build(t *testing.T, known kinds.Complete, texts ...string) *server.Server {
	t.Helper()
	b := server.NewBuilder(server.Options{ClusterOptions: admission.ClusterOptions{Known: known}, User: admin})
	views := []server.View{}
	for _, text := range texts {
		state := objects(text)
		cluster := b.Cluster(admission.NewIndex(state))
		loaded := b.Load(t.Context(), cluster, state)
		for _, r := range loaded.Refusals {
			t.Fatal(r.Message)
		}
		views = append(views, server.View{Cluster: cluster, Policies: loaded.Set})
	}
	s := b.Server(views...)
	if again := b.Server(views...); again != s {
		t.Error("equal views give two servers")
	}
	return s
}

// TestViews: the decisions of every view count, equal ones once.
func TestViews(t *testing.T) {
	s := build(t, kinds.Complete{},
		policyText("p", "object.metadata.name == 'x'")+"\n---\n"+policyText("q", "1 == 2"),
		policyText("p", "object.metadata.name == 'x'")+"\n---\n"+policyText("q", "2 == 3"))
	v, err := s.Review(t.Context(), create("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"))
	if err != nil {
		t.Fatal(err)
	}
	var messages []string
	for _, d := range v.Decisions {
		messages = append(messages, d.Policy.Name+": "+d.Message)
	}
	want := "p: failed expression: object.metadata.name == 'x', q: failed expression: 1 == 2, q: failed expression: 2 == 3"
	if got := strings.Join(messages, ", "); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if v, _ = s.Only(map[string]bool{"q": true}).Review(t.Context(), create("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")); len(v.Decisions) != 2 {
		t.Errorf("only q: %d decisions, want 2", len(v.Decisions))
	}
	if !s.MayMatch(map[string]bool{"q": true}, objects("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")[0], k8sadmission.Create) {
		t.Error("q may match the creation of a ConfigMap")
	}
}

// TestUnknown: if something is not known there is no answer; that depends on which kinds are known.
func TestUnknown(t *testing.T) {
	invalid := policyText("p", "true") + "\n---\n{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: [a]}}"
	object := "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}}"
	for name, test := range map[string]struct {
		known            kinds.Complete
		text, object     string
		unknown, refused bool
	}{
		"kind nothing defines":            {kinds.CompleteAll(), policyText("p", "true"), "{apiVersion: example.com/v1, kind: Thing, metadata: {name: a}}", true, false},
		"namespace nothing defines":       {kinds.Complete{}, policyText("p", "true"), object, false, false},
		"namespace that does not exist":   {kinds.CompleteOf(kinds.Namespace), policyText("p", "true"), object, false, true},
		"namespace that cannot be stored": {kinds.Complete{}, invalid, object, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := build(t, test.known, test.text).Review(t.Context(), create(test.object))
			if err != nil {
				t.Fatal(err)
			}
			if (v.Unknown != nil) != test.unknown || (v.Refusal != nil) != test.refused {
				t.Errorf("unknown: %v, refusal: %v", v.Unknown, v.Refusal)
			}
		})
	}
}

// TestLoadOnce: an object in several lists is accepted once.
func TestLoadOnce(t *testing.T) {
	shared, one, other := objects(policyText("shared", "true")), objects(policyText("one", "true")), objects(policyText("other", "true"))
	b := server.NewBuilder(server.Options{User: admin})
	cluster := b.Cluster(admission.NewIndex(shared))
	var seen *policy.Policy
	for _, list := range [][]*admission.Object{slices.Concat(shared, one), slices.Concat(other, shared)} {
		loaded := b.Load(t.Context(), cluster, list)
		if len(loaded.Set.Policies) != 2 || len(loaded.Set.Bindings) != 2 || len(loaded.Refusals) > 0 {
			t.Fatalf("loaded %d policies, %d bindings, %v", len(loaded.Set.Policies), len(loaded.Set.Bindings), loaded.Refusals)
		}
		again := loaded.Set.Policies[1] // by name
		if again.Name != "shared" || seen != nil && again != seen {
			t.Errorf("%s is accepted once more", again.Name)
		}
		seen = again
	}
}

// TestStateHasWhatIsCreated: a state that has all objects of some kinds is that after the request, so
// that the new object in it does not mean that it existed before.
func TestStateHasWhatIsCreated(t *testing.T) {
	text := "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"
	for _, test := range []struct {
		known kinds.Complete
		code  int32
	}{{kinds.CompleteAll(), 409}, {kinds.CompleteOf(schema.GroupKind{Kind: "ConfigMap"}), 0}} {
		v, err := build(t, test.known, text).Review(t.Context(), create(text))
		if err != nil {
			t.Fatal(err)
		}
		if answer := v.Response(); int32(answer.Code) != test.code {
			t.Errorf("got %d %s, want %d", answer.Code, answer.Message, test.code)
		}
	}
}
