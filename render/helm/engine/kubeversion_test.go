package engine_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	helmchart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/render/helm/engine"
)

// versioned is a chart's output for two versions of Kubernetes, and whether it read the version.
type versioned struct {
	made [2]string
	read bool
}

func (v versioned) differs() bool { return v.made[0] != v.made[1] }

// forVersions renders a chart for two versions. The text of errors is ignored, as it is kept for no release.
func forVersions(t *testing.T, c *helmchart.Chart, user map[string]any) (v versioned) {
	t.Helper()
	e := engine.New()
	for i, version := range []string{"v1.25.3", "v1.36.0"} {
		copied, all, err := preparedFor(t, c, user, version)
		if err != nil {
			t.Logf("%s: %v", c.Name(), err)
			return versioned{}
		}
		read := new(atomic.Bool)
		made, err := e.Render(t.Context(), copied, all, engine.Options{Seed: "seed", Now: now, KubeVersionRead: read})
		var text strings.Builder
		for _, f := range made.Files {
			text.WriteString(f.Text)
		}
		v.made[i] = fmt.Sprint(text.String(), err != nil)
		v.read = v.read || read.Load()
	}
	return v
}

func TestKubeVersionRead(t *testing.T) {
	const partials = `{{ define "names" }}{{ .Capabilities.KubeVersion.Version }}{{ end }}{{ define "takes" }}{{ . }}{{ end }}`
	for template, read := range map[string]bool{
		`{{ .Capabilities.KubeVersion.Minor }}`:                                          true,
		`{{ .Capabilities.KubeVersion }}`:                                                true,
		`{{ $c := .Capabilities }}{{ $c.KubeVersion.GitVersion }}`:                       true,
		`{{ with .Capabilities }}{{ .KubeVersion.Version }}{{ end }}`:                    true,
		`{{ (get . "Capabilities").KubeVersion }}`:                                       true,
		`{{ (index . "Capabilities").KubeVersion.String }}`:                              true,
		`{{ if semverCompare ">=1.30" .Capabilities.KubeVersion.Version }}a{{ end }}`:    true,
		`{{ if false }}a{{ else if eq .Capabilities.KubeVersion.Minor "36" }}b{{ end }}`: true,
		`{{ if not (eq .Capabilities.KubeVersion.Minor "36") }}b{{ end }}`:               true,
		`{{ range until (int .Capabilities.KubeVersion.Minor) }}a{{ end }}`:              true,
		`{{ include "names" . }}`:                                                        true,
		`{{ template "names" . }}`:                                                       true,
		`{{ template "takes" .Capabilities.KubeVersion }}`:                               true,
		`{{ template "takes" .Capabilities }}`:                                           true,
		`{{ tpl "{{ .Capabilities.KubeVersion }}" . }}`:                                  true,
		`{{ tpl (printf "{{ .Capabilities.%sVersion }}" "Kube") . }}`:                    true,
		`{{ . }}`:                                                                                   true,
		`{{ toYaml . }}`:                                                                            true,
		`{{ toJson .Capabilities | sha256sum }}`:                                                    true,
		`{{ printf "%v" .Capabilities }}`:                                                           true,
		`{{ range $k, $v := . }}{{ $v }}{{ end }}`:                                                  true,
		`{{ $c := deepCopy .Capabilities }}{{ $c }}`:                                                true,
		`{{ $d := dict "a" (list .Capabilities) }}{{ toString $d | len }}`:                          true,
		`{{ .Values.a }}`:                                                                           false,
		`KubeVersion {{ .Release.Name }}`:                                                           false,
		`{{ .Capabilities.APIVersions.Has "policy/v1" }}`:                                           false,
		`{{ .Capabilities.APIVersions.Has "a.example.com/v1/A" }}`:                                  false,
		`{{ .Capabilities.APIVersions.Has "resource.k8s.io/v1" }}`:                                  true,
		`{{ $c := .Capabilities.APIVersions }}{{ $c.Has "policy/v1" }}`:                             true,
		`{{ .Capabilities.APIVersions.Has (print "resource.k8s.io" "/v1") }}`:                       true,
		`{{ $d := dict "a" .Capabilities }}{{ len $d }}{{ hasKey . "Capabilities" }}`:               false,
		`{{ if false }}{{ .Capabilities.KubeVersion }}{{ end }}`:                                    false,
		`{{ if true }}a{{ else if .Capabilities.KubeVersion }}{{ end }}`:                            false,
		`{{ range list }}{{ .Capabilities.KubeVersion }}{{ else }}{{ toYaml .Values }}{{ end }}`:    false,
		`{{ define "unused" }}{{ .Capabilities.KubeVersion }}{{ end }}{{ include "takes" .Chart }}`: false,
	} {
		v := forVersions(t, newChart(t, map[string]string{"templates/t.yaml": template, "templates/_p.tpl": partials}), nil)
		if v.read != read {
			t.Errorf("%s: read %v: %q", template, v.read, v.made)
		}
		if v.differs() && !read {
			t.Errorf("%s makes %q", template, v.made)
		}
	}
}

// TestKubeVersionThroughFunctions checks that a function's result that depends on the version is recorded as
// reading it: the functions get all of .Capabilities, as no action names the field.
func TestKubeVersionThroughFunctions(t *testing.T) {
	differ, calls := 0, 0
	for _, name := range testall.Sample(engine.Functions(), 30) {
		for _, arguments := range []string{
			`.`, `.Capabilities`, `(list .Capabilities)`, `(dict "a" .Capabilities)`, `"a" .Capabilities`, `.Capabilities "a"`, `"%v" .Capabilities`,
			`1 .Capabilities`, `.Capabilities .Capabilities`, `.Capabilities (list .Capabilities)`, `"a" (dict "a" .Capabilities)`, `(dict "a" .Capabilities) "a"`,
			`"a" (list .Capabilities)`, `"," (list .Capabilities)`, `(list .Capabilities) (list .Capabilities)`, `(dict) (dict "a" .Capabilities)`, `"a" .Capabilities .`,
			`"a" "b" .Capabilities`, `"a" .Capabilities true`, `1 "a" .Capabilities`, `"a" 1 (dict "a" (list .Capabilities))`,
		} {
			for _, around := range []string{`{{ %s %s }}`, `{{ $x := %s %s }}{{ kindOf $x }}{{ if $x }}yes{{ end }}`, `{{ range $v := (list (%s %s)) }}{{ typeOf $v }}{{ with $v }}{{ len . }}{{ end }}{{ end }}`} {
				template := fmt.Sprintf(around, name, arguments)
				v := forVersions(t, newChart(t, map[string]string{"templates/t.yaml": template}), nil)
				calls++
				if v.differs() {
					differ++
				}
				if v.differs() && !v.read {
					t.Errorf("%s makes %.100q", template, v.made)
				}
			}
		}
	}
	if differ < calls/50 {
		t.Errorf("only %d of %d calls depend on the version", differ, calls)
	}
}

// TestKubeVersionOfCharts checks that the output of real charts is the same for two versions if they do not
// read the version.
func TestKubeVersionOfCharts(t *testing.T) {
	renders, read, differ := 0, 0, 0
	for _, file := range testall.Sample(archives(t), 10) {
		c := loadArchive(t, file)
		for name, user := range valueFiles(t, c) {
			v := forVersions(t, c, user)
			renders++
			if v.read {
				read++
			}
			if v.differs() {
				differ++
			}
			if v.differs() && !v.read {
				t.Errorf("%s %s makes something else for another version, which it does not read", filepath.Base(file), name)
			}
		}
	}
	t.Logf("%d renders, %d read the version, %d make something else for another", renders, read, differ)
}
