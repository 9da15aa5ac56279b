package copies_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render/deploy/copies"
	"github.com/preadmit/preadmit/render/tree"
)

func source() *tree.Tree {
	files := fstest.MapFS{}
	for _, name := range []string{"a.yaml", "apps/base/a.yaml", "apps/base/sub/a.yaml", "apps/prod/kustomization.yaml", "apps/app/app/a.yaml"} {
		files[name] = &fstest.MapFile{}
	}
	return tree.New(files, tree.Limits{})
}

// TestPartOf compares with the results of the controller's own code for the same copies, unless they are not supported.
func TestPartOf(t *testing.T) {
	for _, test := range []struct{ name, copies, want string }{
		{"all in a directory, to where it was", "[{from: '@r/apps/base/**', to: '@artifact/apps/base/'}]", ". at .: apps/base"},
		{"no slash at the end of a directory", "[{from: '@r/apps/base/**', to: '@artifact/apps/base'}]", ". at .: apps/base"},
		{"all in a directory, to the top", "[{from: '@r/apps/base/**', to: '@artifact/'}]", "apps/base at .: apps/base"},
		{"all in a directory, to another place", "[{from: '@r/apps/base/**', to: '@artifact/x/y/'}]", "apps/base at x/y: apps/base"},
		{"all of the source", "[{from: '@r/**', to: '@artifact/'}]", ". at .: ."},
		{"all of the source, as a directory", "[{from: '@r/', to: '@artifact/x'}]", ". at x: ."},
		{"a directory goes into the other", "[{from: '@r/apps/base/', to: '@artifact/apps/base/'}]", "apps at apps/base: apps/base"},
		{"without slashes, too", "[{from: '@r/apps/base', to: '@artifact/apps/base'}]", "apps at apps/base: apps/base"},
		{"a directory into the one it was in", "[{from: '@r/apps/base/', to: '@artifact/apps/'}]", ". at .: apps/base"},
		{"a directory to the top", "[{from: '@r/apps/base/', to: '@artifact/'}]", "apps at .: apps/base"},
		{"names that repeat", "[{from: '@r/apps/app/app/', to: '@artifact/app/'}]", "apps at .: apps/app/app"},
		{"several directories", "[{from: '@r/apps/base/', to: '@artifact/x/'}, {from: '@r/apps/prod/**', to: '@artifact/x/prod'}]", "apps at x: apps/base apps/prod"},
		{"a file", "[{from: '@r/apps/base/a.yaml', to: '@artifact/apps/base/a.yaml'}]", ". at .: apps/base/a.yaml"},
		{"a file into a directory", "[{from: '@r/apps/base/a.yaml', to: '@artifact/base/'}]", "apps at .: apps/base/a.yaml"},
		{"a file to the top", "[{from: '@r/a.yaml', to: '@artifact/'}]", ". at .: a.yaml"},
		{"a file into a directory that a copy made", "[{from: '@r/apps/prod/', to: '@artifact/apps/'}, {from: '@r/a.yaml', to: '@artifact/'}, {from: '@r/apps/base/sub/a.yaml', to: '@artifact/apps/base/sub/'}, {from: '@r/apps/base/a.yaml', to: '@artifact/apps/base'}]", ". at .: apps/prod a.yaml apps/base/sub/a.yaml apps/base/a.yaml"},
		{"a file into a directory of a directory", "[{from: '@r/apps/', to: '@artifact/'}, {from: '@r/apps/base/a.yaml', to: '@artifact/apps/base'}]", ". at .: apps apps/base/a.yaml"},
		{"a file over itself", "[{from: '@r/a.yaml', to: '@artifact/x/a.yaml'}, {from: '@r/a.yaml', to: '@artifact/x/a.yaml'}]", ". at x: a.yaml a.yaml"},
		{"a strategy that is the default", "[{from: '@r/a.yaml', to: '@artifact/', strategy: Overwrite}]", ". at .: a.yaml"},

		{"a file of another name", "[{from: '@r/apps/base/a.yaml', to: '@artifact/apps/base'}]", `from "@r/apps/base/a.yaml" to "@artifact/apps/base", which renames a file: that is not supported`},
		{"two places", "[{from: '@r/apps/base/', to: '@artifact/apps/'}, {from: '@r/apps/prod/', to: '@artifact/apps/prod/'}]", `from "@r/apps/prod/" to "@artifact/apps/prod/", another place than the other files have: that is not supported`},
		{"two places that are one in the artifact", "[{from: '@r/apps/base/**', to: '@artifact/'}, {from: '@r/apps/prod/**', to: '@artifact/'}]", `from "@r/apps/prod/**" to "@artifact/", another place than the other files have: that is not supported`},
		{"nothing there", "[{from: '@r/apps/none/', to: '@artifact/'}]", `from "@r/apps/none/" to "@artifact/", which its source does not have`},
		{"nothing in it", "[{from: '@r/apps/none/**', to: '@artifact/'}]", `from "@r/apps/none/**" to "@artifact/", of which its source has nothing`},
		{"all in a file", "[{from: '@r/a.yaml/**', to: '@artifact/'}]", `from "@r/a.yaml/**" to "@artifact/", of which its source has nothing`},
		{"another pattern", "[{from: '@r/apps/*.yaml', to: '@artifact/'}]", `from "@r/apps/*.yaml" to "@artifact/", a pattern that is not supported: only DIRECTORY/** is, and directories and files`},
		{"a pattern of directories", "[{from: '@r/apps/*/**', to: '@artifact/'}]", `from "@r/apps/*/**" to "@artifact/", a pattern that is not supported: only DIRECTORY/** is, and directories and files`},
		{"out of the source", "[{from: '@r/../x', to: '@artifact/'}]", `from "@r/../x" to "@artifact/", which its source does not have`},
		{"out of the artifact", "[{from: '@r/apps/', to: '@artifact/../'}]", `from "@r/apps/" to "@artifact/../", a path that is not supported`},
		{"a file to a directory that is none", "[{from: '@r/a.yaml', to: '@artifact/x/.'}]", `from "@r/a.yaml" to "@artifact/x/.", a path that is not supported`},
		{"another place than the artifact", "[{from: '@r/apps/', to: '@x/'}]", `from "@r/apps/" to "@x/", which is not valid`},
		{"an alias alone", "[{from: '@r', to: '@artifact/'}]", `from "@r" to "@artifact/", which is not valid`},
		{"Merge", "[{from: '@r/a.yaml', to: '@artifact/', strategy: Merge}]", `from "@r/a.yaml" to "@artifact/" with the strategy Merge, which is not supported`},
		{"Extract", "[{from: '@r/a.tgz', to: '@artifact/', strategy: Extract}]", `from "@r/a.tgz" to "@artifact/" with the strategy Extract, which is not supported`},
		{"exclude", "[{from: '@r/apps/', to: '@artifact/', exclude: ['*.md']}]", `from "@r/apps/" to "@artifact/" without some of the files (exclude), which is not supported`},
		{"a field that is not known", "[{from: '@r/apps/', to: '@artifact/'}, {from: '@r/a.yaml', to: '@artifact/', mode: 1}]", "with copies that are not supported: their fields are from, to, exclude and strategy (copy 2)"},
		{"no copies", "[]", "of nothing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := partOf(t, ".", test.copies); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// partOf returns the part that copies make an artifact of, as text.
func partOf(t *testing.T, top, text string) string {
	t.Helper()
	var a copies.Artifact
	if err := yaml.Unmarshal([]byte("copy: "+text), &a); err != nil {
		t.Fatal(err)
	}
	all, why := a.Copies()
	if why != "" {
		return why
	}
	part, why := copies.PartOf(source(), top, all)
	if why != "" {
		return why
	}
	return fmt.Sprintf("%s at %s: %s", part.Top, part.At, strings.Join(part.Only, " "))
}

// TestPartOfDirectory checks copies of a source that is a directory of the tree.
func TestPartOfDirectory(t *testing.T) {
	for _, test := range []struct{ copies, want string }{
		{"[{from: '@r/base/**', to: '@artifact/'}]", "apps/base at .: apps/base"},
		{"[{from: '@r/base/', to: '@artifact/x/'}]", "apps at x: apps/base"},
		{"[{from: '@r/**', to: '@artifact/'}]", "apps at .: apps"},
		{"[{from: '@r/../a.yaml', to: '@artifact/'}]", `from "@r/../a.yaml" to "@artifact/", which its source does not have`},
		{"[{from: '@r/apps/base/', to: '@artifact/'}]", `from "@r/apps/base/" to "@artifact/", which its source does not have`},
	} {
		if got := partOf(t, "apps", test.copies); got != test.want {
			t.Errorf("%s\ngot  %s\nwant %s", test.copies, got, test.want)
		}
	}
}

func TestDir(t *testing.T) {
	for _, test := range []struct{ top, at, name, want, why string }{
		{".", ".", "apps", "apps", ""},
		{"apps", ".", ".", "apps", ""},
		{"apps", "x/y", "x/y", "apps", ""},
		{"apps", "x/y", "x/y/z", "apps/z", ""},
		{"apps", "x/y", "x", "", "which has all its files in x/y: that its path x is above is not supported"},
		{"apps", "x/y", ".", "", "which has all its files in x/y: that its path . is above is not supported"},
		{"apps", "x/y", "x/yz", "", "which has all its files in x/y, and nothing at its path x/yz"},
	} {
		dir, why := copies.Part{Top: test.top, At: test.at}.Dir(test.name)
		if dir != test.want || why != test.why {
			t.Errorf("%s at %s: %s is at %q: %s", test.top, test.at, test.name, dir, why)
		}
	}
}

func TestStopped(t *testing.T) {
	const fine = "{sources: [{alias: r}], artifacts: [{name: a, revision: '@r', originRevision: '@r'}]}"
	for _, test := range []struct{ name, generator, want string }{
		{"none", "spec: " + fine, ""},
		{"disabled", "metadata: {annotations: {source.extensions.fluxcd.io/reconcile: Disabled}}\nspec: " + fine, "which is disabled by its annotation, and does not follow the change"},
		{"enabled", "metadata: {annotations: {source.extensions.fluxcd.io/reconcile: enabled}}\nspec: " + fine, ""},
		{"two aliases", "spec: {sources: [{alias: r}, {alias: r}]}", `which is not valid: several sources have the alias "r"`},
		{"two names", "spec: {artifacts: [{name: a}, {name: a}]}", `which is not valid: several artifacts have the name "a"`},
		{"no such alias", "spec: {artifacts: [{name: a, revision: '@r'}]}", `which is not valid: the revision of the artifact "a" is that of an unknown alias "r"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			data, err := yaml.YAMLToJSON([]byte(test.generator))
			if err != nil {
				t.Fatal(err)
			}
			g, err := copies.Parse(data)
			if err != nil {
				t.Fatal(err)
			}
			if got := g.Stopped(); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
