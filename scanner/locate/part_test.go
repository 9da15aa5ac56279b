package locate_test

import (
	"testing"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/scanner/locate"
)

// TestPart checks which part of an image or name decides an expression.
func TestPart(t *testing.T) {
	const image, name = "spec.template.spec.containers[1].image", "metadata.name"
	containers := "object.spec.template.spec.containers"
	tests := []struct {
		expression, path string
		want             origin.Part
	}{
		{containers + ".all(c, c.image.startsWith('registry.example.com/'))", image, origin.Front},
		{containers + ".all(c, !c.image.startsWith('docker.io/'))", image, origin.Front},
		{containers + ".all(c, !c.image.contains('docker'))", image, origin.Front},
		{containers + ".all(c, c.image.split('/').size() == 3)", image, origin.Front},
		{containers + ".all(c, c.image.matches('^[a-z.]+/team-[a-z]+/.*$'))", image, origin.Front},
		{containers + ".all(c, params.registries.exists(r, c.image.startsWith(r)))", image, origin.Front},
		{containers + "[1].image.startsWith(params.registries[0])", image, origin.Front},
		{containers + ".all(c, !c.image.endsWith(':latest'))", image, origin.Back},
		{containers + ".all(c, !c.image.contains(':latest'))", image, origin.Back},
		{containers + ".all(c, c.image.contains('@sha256:'))", image, origin.Back},
		{containers + ".all(c, c.image.matches('@sha256:[a-f0-9]{64}$'))", image, origin.Back},
		{containers + ".all(c, c.image.matches(':v?[0-9]+([.][0-9]+)*$'))", image, origin.Back},
		{containers + ".all(c, c.image.split(':')[1] in ['stable', 'v1'])", image, origin.Back},
		{"variables.images.all(i, !i.endsWith(':latest'))", image, origin.Back},
		{containers + ".all(c, c.image == 'registry.example.com/app:v1')", image, origin.Whole},
		{containers + ".all(c, size(c.image) < 3)", image, origin.Whole},
		{"object.metadata.name.startsWith('team-')", name, origin.Front},
		{"!object.metadata.name.matches('^w')", name, origin.Front},
		{"object.metadata.name.endsWith('-prod')", name, origin.Back},
		{"object.metadata.name.matches('-v[0-9]$')", name, origin.Back},
		{"object.metadata.name.contains('x')", name, origin.Whole},
		{"object.metadata.name == 'other'", name, origin.Whole},
		{"object.spec.replicas < 3", "spec.replicas", origin.Whole},
		{"object.spec.replicas < 3", "spec.absent", origin.Whole},
	}
	f := newFinder(t)
	params := parse(t, `{registries: [registry.example.com/, quay.io/]}`)
	for _, test := range tests {
		got := f.Part(locate.Question{
			Expression: test.expression, Variables: variables, Object: parse(t, shop), Params: params,
		}, test.path)
		if got != test.want {
			t.Errorf("%s turns on part %d of %s, want %d", test.expression, got, test.path, test.want)
		}
	}
}

// TestLacks checks whether one more element would make a validation hold.
func TestLacks(t *testing.T) {
	const path = "spec.template.spec.containers"
	envoy := parse(t, `{name: envoy, image: "envoy:1"}`)
	f := newFinder(t)
	for expression, want := range map[string]bool{
		"object.spec.template.spec.containers.exists(c, c.name == 'envoy')":                                 true,
		"object.spec.template.spec.containers.filter(c, c.name == 'envoy').size() == 1":                     true,
		"object.spec.template.spec.containers.size() > 3":                                                   true,
		"object.spec.template.spec.containers.exists(c, c.name == 'envoy' && c.image.endsWith(':2'))":       false,
		"object.spec.template.spec.containers.size() < 3":                                                   false,
		"object.spec.template.spec.containers.exists(c, c.name == 'istio')":                                 false,
		"object.spec.template.spec.containers.map(c, c.name).exists(n, n == 'envoy') && object.kind == 'x'": true,
	} {
		q := locate.Question{Expression: expression, Object: parse(t, shop)}
		if !locate.IsList(q, path) || locate.IsList(q, "spec.replicas") {
			t.Fatal("IsList is wrong about the object")
		}
		if got := f.Lacks(q, path, envoy); got != want {
			t.Errorf("%s: lacks envoy %v, want %v", expression, got, want)
		}
	}
}
