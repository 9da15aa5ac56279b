package policy_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	k8sadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/admission/apply"
	"github.com/preadmit/preadmit/scanner/suite"
)

// world has the objects of generated scenes.
type world struct{ context, objects []*admission.Object }

func loadWorld(t testing.TB) world {
	read := func(name string) []*admission.Object {
		text, err := os.ReadFile("testdata/world/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return objects(t, string(text))
	}
	return world{context: read("context.yaml"), objects: read("objects.yaml")}
}

// generate returns a scene of a few policies and many requests.
func (g *generator) generate() scene {
	s := scene{stored: !g.oneIn(4)}
	for _, o := range g.world.context {
		switch {
		case g.oneIn(25):
		case o.GroupVersionKind().Kind == "CustomResourceDefinition":
			s.state = append(s.state, o)
		default:
			s.state = append(s.state, admission.NewObject(g.change(o.Content(), contextChanges, 15).(map[string]any)))
		}
	}
	names := []string{"a.example.com", "b.example.com", "c.example.com", "d.example.com"}
	for _, name := range names[:1+g.IntN(len(names))] {
		s.policies = append(s.policies, g.policy(name)...)
	}
	if g.oneIn(2) {
		s.policies = append(s.policies, g.mutations()...)
	}
	for range 60 {
		s.requests = append(s.requests, g.ask())
	}
	return s
}

// contextChanges are other values of fields of the state.
var contextChanges = map[string][]any{
	"labels": {nil, map[string]any{}, map[string]any{"tier": "gold"}, map[string]any{"env": "prod"}},
	"env":    {"prod", "dev"},
	"tier":   {"gold", "silver"},
	"image":  {"", "nginx"},
	"verbs":  {[]any{"*"}, []any{"get"}},
}

// objectChanges are other values of fields of objects.
var objectChanges = map[string][]any{
	"labels":                         {nil, map[string]any{}, map[string]any{"app": "web"}, map[string]any{"app": "", "env": "prod", "tier": "gold"}, map[string]any{"team": "b"}},
	"annotations":                    {nil, map[string]any{}, map[string]any{"owner": "bo", "example.com/x": "1"}},
	"app":                            {"api", "", "a-name-that-is-longer-than-most-others"},
	"env":                            {"prod", "dev", ""},
	"tier":                           {"gold", "silver"},
	"replicas":                       {int64(0), int64(1), int64(2), int64(10), int64(2147483647), nil},
	"image":                          {"nginx", "busybox:latest", "registry.example.com/a/b:c", "r@sha256:0000000000000000000000000000000000000000000000000000000000000000"},
	"memory":                         {"1024Mi", "1Gi", "0.5", "123456789", int64(1)},
	"cpu":                            {"1", "1000m", 0.5, "2"},
	"max":                            {"7", "", "-1"},
	"names":                          {[]any{}, []any{"web"}, []any{"b", "a", "b"}},
	"host":                           {"fe80::1", "300.1.1.1", "", "example.com"},
	"cidr":                           {"10.0.0.0/8", "::/0", "10.0.0.1/33"},
	"url":                            {"http://h", "not a url", "https://[::1]:80/", ""},
	"size":                           {int64(1), "5", nil},
	"version":                        {"1.0.0", "v2", "0.9.0-rc.1"},
	"big":                            {strings.Repeat("a", 300), strings.Repeat("big ", 700), strings.Repeat("b", 9000), strings.Repeat("line\n", 10)},
	"parts":                          {[]any{}, []any{map[string]any{"name": "z"}}, []any{map[string]any{"name": "a", "size": int64(9)}, map[string]any{"name": "a", "size": int64(-9)}}},
	"extra":                          {map[string]any{}, map[string]any{"any": nil}, []any{int64(1), 2.5, "x"}, "text"},
	"ratio":                          {0.0, int64(2), -1.25, 1e300},
	"color":                          {"blue", ""},
	"tags":                           {map[string]any{}, map[string]any{"a": "b", "c": "d"}},
	"resources":                      {map[string]any{}, nil, map[string]any{"requests": map[string]any{"cpu": "1m"}}},
	"securityContext":                {map[string]any{}, map[string]any{"privileged": true}, nil},
	"owner":                          {"", "cy"},
	"targetCPUUtilizationPercentage": {int64(80)},
	"maxReplicas":                    {int64(1), int64(9)},
	"minAvailable":                   {int64(1), "0%"},
	"ports":                          {nil, []any{map[string]any{"port": int64(8080), "containerPort": int64(8080), "name": "p"}}},
}

// vary changes about one in odds of an object's fields.
func (g *generator) vary(o *admission.Object, odds int) *admission.Object {
	return admission.NewObject(g.change(o.Content(), objectChanges, odds).(map[string]any))
}

// users are the users of requests.
var users = []user.Info{
	suite.Admin(),
	&user.DefaultInfo{Name: "dana", Groups: []string{"dev", user.AllAuthenticated}},
	&user.DefaultInfo{Name: "dana", UID: "42", Extra: map[string][]string{"scopes": {"a", "b"}, "example.com/x": {}}},
	&user.DefaultInfo{Name: "system:serviceaccount:shop:robot", Groups: []string{"system:serviceaccounts", "system:serviceaccounts:shop"}},
	&user.DefaultInfo{Name: "system:anonymous"},
}

// ask returns a request.
func (g *generator) ask() admission.ClientRequest {
	o := g.place(pick(g, g.world.objects...))
	in := admission.ClientRequest{User: pick(g, users...), DryRun: !g.oneIn(4)}
	switch kind := o.GroupVersionKind().Kind; {
	case o.Name() == "": // its name is generated
		in.Operation, in.Object = k8sadmission.Create, g.vary(o, 6)
	case g.oneIn(12) && slices.Contains([]string{"Deployment", "StatefulSet", "Widget"}, kind):
		in.Operation, in.Subresource, in.OldObject = k8sadmission.Update, "scale", g.vary(o, 6)
		in.Object = g.scale(o)
	case g.oneIn(12) && slices.Contains([]string{"Deployment", "Pod", "Widget", "Job", "HorizontalPodAutoscaler"}, kind):
		in.Operation, in.Subresource = k8sadmission.Update, "status"
		in.OldObject, in.Object = g.vary(o, 8), g.vary(o, 8)
	case g.oneIn(6):
		in.Operation, in.OldObject = k8sadmission.Delete, g.vary(o, 6)
	case g.oneIn(3):
		in.Operation, in.OldObject, in.Object = k8sadmission.Update, g.vary(o, 12), g.vary(o, 8)
		if g.oneIn(2) {
			in.Applier = apply.Flux
		}
	default:
		in.Operation, in.Object = k8sadmission.Create, g.vary(o, 6)
	}
	return in
}

func (g *generator) scale(o *admission.Object) *admission.Object {
	return admission.NewObject(map[string]any{
		"apiVersion": "autoscaling/v1", "kind": "Scale",
		"metadata": map[string]any{"name": o.Name(), "namespace": o.Namespace()},
		"spec":     map[string]any{"replicas": pick(g, int64(0), int64(1), int64(7))},
	})
}

// clusterScoped are the cluster-scoped kinds of the world's objects.
var clusterScoped = []string{"Namespace", "Limit", "ClusterRole", "PriorityClass", "StorageClass"}

// place returns an object with a name and a namespace.
func (g *generator) place(o *admission.Object) *admission.Object {
	metadata := map[string]any{}
	for key, value := range o.Content()["metadata"].(map[string]any) {
		metadata[key] = value
	}
	switch {
	case g.oneIn(15):
		delete(metadata, "name")
		metadata["generateName"] = pick(g, "web-", "limits")
	case g.oneIn(8):
		metadata["name"] = pick(g, "x", "web-2", "limits", "more", "shop", "a.very.long.name-that-goes-on-and-on")
	}
	if !slices.Contains(clusterScoped, o.GroupVersionKind().Kind) {
		switch pick(g, 0, 0, 0, 1, 1, 2, 3, 4) {
		case 0:
			metadata["namespace"] = "shop"
		case 1:
			metadata["namespace"] = "test"
		case 2:
			metadata["namespace"] = "plain"
		case 3:
			metadata["namespace"] = pick(g, "default", "default", "kube-system", "nowhere")
		}
	}
	content := map[string]any{}
	for key, value := range o.Content() {
		content[key] = value
	}
	content["metadata"] = metadata
	return admission.NewObject(content)
}
