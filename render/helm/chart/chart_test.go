package chart_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	helmchart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/tree"
)

const metadata = "{apiVersion: v2, name: app, version: 1.0.0}"

// pack makes an archive from pairs of names and contents.
func pack(t *testing.T, files ...string) []byte {
	t.Helper()
	var data bytes.Buffer
	zipped := gzip.NewWriter(&data)
	archive := tar.NewWriter(zipped)
	for i := 0; i < len(files); i += 2 {
		if err := archive.WriteHeader(&tar.Header{Name: files[i], Mode: 0o644, Size: int64(len(files[i+1]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(files[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(archive.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}

func TestDependencies(t *testing.T) {
	inner := string(pack(t, "inner/Chart.yaml", strings.Replace(metadata, "app", "inner", 1), "inner/templates/x.yaml", "x"))
	middle := string(pack(t, "middle/Chart.yaml", strings.Replace(metadata, "app", "middle", 1), "middle/charts/inner-1.0.0.tgz", inner))
	c, err := chart.FromArchive(pack(t, "app/Chart.yaml", metadata, "app/charts/middle-1.0.0.tgz", middle,
		"app/charts/dir/Chart.yaml", strings.Replace(metadata, "app", "dir", 1), "app/charts/dir/charts/inner-1.0.0.tgz", inner, "app/charts/_ignored.tgz", "x"), chart.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range c.Dependencies() {
		for _, i := range d.Dependencies() {
			got = append(got, i.ChartFullPath())
		}
	}
	if text := strings.Join(got, " "); text != "app/charts/dir/charts/inner app/charts/middle/charts/inner" {
		t.Errorf("dependencies %s", text)
	}
}

func TestArchiveBombs(t *testing.T) {
	nested := pack(t, "app/Chart.yaml", metadata)
	for range 15 {
		nested = pack(t, "app/Chart.yaml", metadata, "app/charts/app.tgz", string(nested))
	}
	zeros := strings.Repeat("\x00", 1<<20)
	var many []string
	for range 40 {
		many = append(many, "app/x", "")
	}
	large := string(pack(t, "app/Chart.yaml", metadata, "app/x", zeros))
	for _, test := range []struct {
		name   string
		data   []byte
		limits chart.Limits
		want   string
	}{
		{"nested archives", nested, chart.Limits{}, "nested more than 10 deep"},
		{"large file", pack(t, "app/Chart.yaml", metadata, "app/x", zeros), chart.Limits{FileBytes: 1 << 19}, "more than the limit of 524288"},
		{"large in sum", pack(t, "app/Chart.yaml", metadata, "app/charts/a.tgz", large, "app/charts/b.tgz", large), chart.Limits{Bytes: 3 << 19}, "more than the limit of 1572864 bytes"},
		{"many files", pack(t, append([]string{"app/Chart.yaml", metadata}, many...)...), chart.Limits{Files: 20}, "more than the limit of 20 files"},
		{"parent directory", pack(t, "app/../../x", ""), chart.Limits{}, "outside the directory"},
		{"absolute path", pack(t, "app//etc/passwd", ""), chart.Limits{}, "outside the directory"},
		{"backslashes", pack(t, `app\..\..\x`, ""), chart.Limits{}, "outside the directory"},
		{"no archive", []byte("x"), chart.Limits{}, "EOF"},
		{"no chart", pack(t, "app/x", ""), chart.Limits{}, "Chart.yaml file is missing"},
	} {
		_, err := chart.FromArchive(test.data, test.limits)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %s", test.name, err, test.want)
		}
	}
}

func TestFromTree(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	fsys := fstest.MapFS{
		"charts/app/Chart.yaml": file(metadata), "charts/app/.helmignore": file("*.bak\n/secret/\n"),
		"charts/app/templates/a.yaml": file("a"), "charts/app/templates/b.bak": file("b"), "charts/app/secret/c": file("c"),
		"charts/app/templates/.d.yaml": file("d"),
		"charts/app/shared":            {Data: []byte("../../shared"), Mode: fs.ModeSymlink}, "shared/x": file("x"),
	}
	c, err := chart.FromTree(tree.New(fsys, tree.Limits{}), "charts/app", chart.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range c.Raw {
		names = append(names, f.Name)
	}
	if got := strings.Join(names, " "); got != ".helmignore Chart.yaml shared/x templates/a.yaml" {
		t.Errorf("read %s", got)
	}
	fsys["charts/app/out"] = &fstest.MapFile{Data: []byte("../../../x"), Mode: fs.ModeSymlink}
	if _, err := chart.FromTree(tree.New(fsys, tree.Limits{}), "charts/app", chart.Limits{}); err == nil || !strings.Contains(err.Error(), "leads out of the repository") {
		t.Errorf("error %v for a link that leads out", err)
	}
}

// TestNameIn reads the name of a chart without unpacking all of it.
func TestNameIn(t *testing.T) {
	data := pack(t, "web/Chart.yaml", "apiVersion: v2\nname: site\nversion: 1.0.0\n", "web/charts/db/Chart.yaml", "apiVersion: v2\nname: db\nversion: 1.0.0\n")
	if got := chart.NameIn(data); got != "site" {
		t.Errorf("the chart is called %q, want site", got)
	}
	if got := chart.NameIn(data[:20]); got != "" {
		t.Errorf("half an archive has the name %q", got)
	}
}

// TestMissing checks that a dependency is in charts/ if the name in a Chart.yaml there is its own.
func TestMissing(t *testing.T) {
	of := func(name string) string { return "apiVersion: v2\nname: " + name + "\nversion: 1.0.0\n" }
	archive := func(name string) string { return string(pack(t, name+"/Chart.yaml", of(name))) }
	for _, test := range []struct {
		file, text string
		missing    bool
	}{
		{"charts/web-1.0.0.tgz", archive("web"), false},
		{"charts/web-v1.0.0-rc.1+b.tgz", archive("web"), false},
		{"charts/renamed.tgz", archive("web"), false},
		{"charts/web-viewer-1.0.0.tgz", archive("web-viewer"), true},
		{"charts/web-2fa-1.0.0.tgz", archive("web-2fa"), true},
		{"charts/_web-1.0.0.tgz", archive("web"), true},
		{"charts/web-1.0.0.tgz.prov", "x", true},
		{"charts/web-.tgz", "x", true},
		{"charts/web/Chart.yaml", of("web"), false},
		{"charts/other/Chart.yaml", of("web"), false},
		{"charts/web/Chart.yaml#", of("web"), true},
		{"charts/web/Chart.yaml", of("other"), true},
	} {
		fsys := fstest.MapFS{"app/Chart.yaml": {Data: []byte(of("app") + "dependencies: [{name: web, version: 1.0.0, repository: https://example.com}]\n")}}
		fsys["app/"+test.file] = &fstest.MapFile{Data: []byte(test.text)}
		missing, err := chart.Missing(tree.New(fsys, tree.Limits{}), "app")
		if err != nil || (len(missing) == 1) != test.missing {
			t.Errorf("with %s %d are missing: %v", test.file, len(missing), err)
		}
	}
}

// countedFS counts how often a file is opened.
type countedFS struct {
	fs.FS
	file   string
	opened *int
}

func (c countedFS) Open(name string) (fs.File, error) {
	if name == c.file {
		*c.opened++
	}
	return c.FS.Open(name)
}

// TestMissingReadsOnce checks that an archive is read once for all dependencies, since each may unpack to 16 MiB.
func TestMissingReadsOnce(t *testing.T) {
	opened := 0
	fsys := countedFS{fstest.MapFS{
		"Chart.yaml":     {Data: []byte("{apiVersion: v2, name: app, version: 1.0.0, dependencies: [{name: a}, {name: b}, {name: c}]}")},
		"charts/any.tgz": {Data: pack(t, "b/Chart.yaml", "name: b\n")},
	}, "charts/any.tgz", &opened}
	missing, err := chart.Missing(tree.New(fsys, tree.Limits{}), ".")
	if err != nil || len(missing) != 2 || opened > 2 { // it is also opened to see whether it is a file
		t.Errorf("%d are missing, error %v; the archive was opened %d times", len(missing), err, opened)
	}
}

// TestInstallable checks which charts Helm's commands install.
func TestInstallable(t *testing.T) {
	for _, test := range []struct{ apiVersion, kind, want string }{
		{"v1", "", ""}, {"v2", "application", ""}, {"v2", "library", "library charts are not installable"},
		{"1.0.0", "", "unsupported chart version"}, {"1.0.0", "library", "unsupported chart version"},
	} {
		c := &helmchart.Chart{Metadata: &helmchart.Metadata{APIVersion: test.apiVersion, Type: test.kind}}
		got := ""
		if err := chart.Installable(c); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s %s: error %q, want %q", test.apiVersion, test.kind, got, test.want)
		}
	}
}
