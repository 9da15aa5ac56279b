package config

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// tree returns a tree with a configuration, or without one if text is "".
func tree(text string) fstest.MapFS {
	if text == "" {
		return fstest.MapFS{}
	}
	return fstest.MapFS{FileName: {Data: []byte(text)}}
}

func TestLoad(t *testing.T) {
	const warn, deny, broken = header + "failOn: warn\n", header + "failOn: deny\n", header + "failon: warn\n"
	const after = "takes effect after the merge, this scan uses the base's"
	tests := []struct {
		name, base, head string
		failOn           string
		want             []string
	}{
		{name: "none"},
		{name: "same", base: warn, head: warn, failOn: "warn"},
		{name: "changed", base: warn, head: deny, failOn: "warn", want: []string{
			"warning head .preadmit.yaml:1: the configuration is changed by this change; it " + after}},
		{name: "added", head: deny, want: []string{
			"warning head .preadmit.yaml:1: the configuration is added by this change; it " + after}},
		{name: "deleted", base: warn, failOn: "warn", want: []string{
			"warning base .preadmit.yaml:1: the configuration is deleted by this change; it " + after}},
		{name: "broken at head", base: warn, head: broken, failOn: "warn", want: []string{
			"warning head .preadmit.yaml:1: the configuration is changed by this change; it " + after,
			"error head .preadmit.yaml:3: after the merge every scan will refuse the configuration: failon: unknown key (did you mean failOn?)"}},
		{name: "too large at head", base: warn, head: strings.Repeat("#", maxBytes+1), failOn: "warn", want: []string{
			"error head .preadmit.yaml:1: after the merge every scan will refuse the configuration: is larger than 1048576 bytes"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			config, diagnostics, err := Load(tree(test.base), tree(test.head))
			if err != nil {
				t.Fatal(err)
			}
			if config.FailOn != test.failOn {
				t.Errorf("failOn %q, want %q", config.FailOn, test.failOn)
			}
			var got []string
			for _, d := range diagnostics {
				got = append(got, fmt.Sprintf("%s %s %s:%d: %s", d.Severity, d.Location.Tree, d.Location.Path, d.Location.StartLine, d.Message))
			}
			if diff := cmp.Diff(test.want, got, cmpopts.IgnoreUnexported(Config{})); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoadWithoutBase(t *testing.T) {
	config, diagnostics, err := Load(nil, tree(header+"failOn: audit\n"))
	if err != nil || config.FailOn != "audit" || diagnostics != nil {
		t.Errorf("Load = %+v, %v, %v; want head's configuration alone", config, diagnostics, err)
	}
}

// TestLoadOtherName checks that a configuration which would be ignored because of its name is an
// error.
func TestLoadOtherName(t *testing.T) {
	other := fstest.MapFS{".preadmit.yml": {Data: []byte(header)}}
	const want = ".preadmit.yml:1:1: is not read: the name of the configuration is .preadmit.yaml"
	for _, base := range []fs.FS{nil, other} {
		if _, _, err := Load(base, other); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	_, diagnostics, err := Load(fstest.MapFS{}, other)
	if err != nil || len(diagnostics) != 1 || diagnostics[0].Location.Path != ".preadmit.yml" {
		t.Errorf("%v %v, want a diagnostic of the head's file", diagnostics, err)
	}
	both := fstest.MapFS{".preadmit.yml": {Data: []byte("a: [")}, FileName: {Data: []byte(header + "failOn: audit\n")}}
	if config, _, err := Load(nil, both); err != nil || config.FailOn != "audit" {
		t.Errorf("%+v, %v", config, err)
	}
}

func TestLoadErrors(t *testing.T) {
	tests := []struct {
		name string
		tree fstest.MapFS
		want string
	}{
		{"unknown key", tree(header + "x: y\n"), ".preadmit.yaml:3:1: x: unknown key"},
		{"empty", fstest.MapFS{FileName: {}}, ".preadmit.yaml:1:1: the file is empty"},
		{"directory", fstest.MapFS{FileName + "/x": {}}, ".preadmit.yaml:1:1: is not a file"},
	}
	for _, test := range tests {
		for _, base := range []fs.FS{nil, test.tree} {
			_, _, err := Load(base, test.tree)
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("%s: error %v, want %s", test.name, err, test.want)
			}
		}
	}
}
