package webhooks

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/preadmit/preadmit/webhooks/app"
	"github.com/preadmit/preadmit/webhooks/metrics"
)

var updateDocs = flag.Bool("update", false, "write the tables of docs/serve.md anew")

// TestSettingsAreDocumented checks that docs/serve.md has a table of exactly all settings.
func TestSettingsAreDocumented(t *testing.T) {
	rows := []string{"| key | flag | environment | default | |", "|---|---|---|---|---|"}
	for _, s := range Settings(&Config{}) {
		flag := ""
		if s.Flag != "" {
			flag = quoted("--" + s.Flag + " " + s.Argument)
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | `%s` | %s | %s |", s.Key, cell(flag), s.Env, quoted(s.Default), cell(s.Usage)))
	}
	holdTable(t, "settings", rows)
}

// TestMetricsAreDocumented checks the same for the metrics.
func TestMetricsAreDocumented(t *testing.T) {
	r := &recorder{}
	metrics.New(r)
	rows := []string{"| metric | labels | |", "|---|---|---|"}
	description := regexp.MustCompile(`fqName: "([a-z_]+)", help: "([^"]+)",.* variableLabels: \{([a-z,]*)\}`)
	for _, text := range r.descriptions {
		d := description.FindStringSubmatch(text)
		if d == nil {
			t.Fatalf("not understood: %s", text)
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |", d[1], quoted(strings.ReplaceAll(d[3], ",", "`, `")), cell(d[2])))
	}
	if len(r.descriptions) < 20 {
		t.Errorf("only %d metrics", len(r.descriptions))
	}
	holdTable(t, "metrics", rows)
}

// recorder records the descriptions of collectors.
type recorder struct {
	prometheus.Registerer
	descriptions []string
}

// MustRegister implements prometheus.Registerer.
func (r *recorder) MustRegister(collectors ...prometheus.Collector) {
	for _, c := range collectors {
		into := make(chan *prometheus.Desc, 16)
		c.Describe(into)
		close(into)
		for d := range into {
			r.descriptions = append(r.descriptions, d.String())
		}
	}
}

// TestPermissionsAreDocumented checks that docs/github-app.md has the permissions and events of the
// manifest.
func TestPermissionsAreDocumented(t *testing.T) {
	data, err := app.Manifest(app.ManifestOptions{PublicURL: "https://preadmit.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Permissions map[string]string `json:"default_permissions"`
		Events      []string          `json:"default_events"`
	}
	if err := json.Unmarshal(data, &manifest); err != nil {
		t.Fatal(err)
	}
	want := manifest.Events
	for name, level := range manifest.Permissions {
		want = append(want, name+": "+level)
	}
	var got []string
	for _, row := range regexp.MustCompile(`(?m)^\| [A-Z][a-z ]+[:,][^|]*\|`).FindAllString(readDoc(t, "github-app.md"), -1) {
		for _, name := range regexp.MustCompile("`([a-z_: ]+)`").FindAllStringSubmatch(row, -1) {
			got = append(got, name[1])
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("permissions and events of docs/github-app.md (-manifest +file):\n%s", diff)
	}
}

// TestDocumentedConfigurations checks that every example of a configuration is valid. An incomplete one
// is combined with a minimal configuration.
func TestDocumentedConfigurations(t *testing.T) {
	examples := 0
	for _, file := range []string{"serve.md", "github-app.md", "api.md", "serve-pages.md"} {
		for _, block := range regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllStringSubmatch(readDoc(t, file), -1) {
			text := block[1]
			if strings.Contains(text, "apiVersion:") {
				continue
			}
			if !strings.Contains(text, "publicURL:") {
				text = complete + text
			}
			examples++
			if _, err := ReadConfig(Sources{File: file, Data: []byte(text), Getenv: environment{}.get}); err != nil {
				t.Errorf("%s:\n%s\n%v", file, text, err)
			}
		}
	}
	if examples < 5 {
		t.Errorf("only %d examples", examples)
	}
}

func readDoc(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func quoted(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// holdTable compares rows with a table of docs/serve.md, which is between two comments.
func holdTable(t *testing.T, name string, rows []string) {
	t.Helper()
	const file = "../docs/serve.md"
	text := readDoc(t, "serve.md")
	begin, end := "<!-- "+name+" -->\n", "\n<!-- end of "+name+" -->"
	head, rest, begun := strings.Cut(text, begin)
	table, tail, ended := strings.Cut(rest, end)
	if !begun || !ended {
		t.Fatalf("%s has no table of %s", file, name)
	}
	if *updateDocs {
		text = head + begin + strings.Join(rows, "\n") + end + tail
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(rows, strings.Split(table, "\n")); diff != "" {
		t.Errorf("%s of %s are out of date, run the test with -update (-program +file):\n%s", name, file, diff)
	}
}
