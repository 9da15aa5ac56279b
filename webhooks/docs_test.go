package webhooks

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/preadmit/preadmit/webhooks/metrics"
)

var updateDocs = flag.Bool("update", false, "write the tables of docs/serve.md anew")

// TestSettingsAreDocumented: docs/serve.md has a table of all settings, and no others.
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

// TestMetricsAreDocumented: so it is with the metrics.
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

// recorder notes what collectors describe.
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

func quoted(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// holdTable compares a table of docs/serve.md, which is between two comments.
func holdTable(t *testing.T, name string, rows []string) {
	t.Helper()
	const file = "../docs/serve.md"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+name+" -->\n", "\n<!-- end of "+name+" -->"
	head, rest, begun := strings.Cut(string(data), begin)
	table, tail, ended := strings.Cut(rest, end)
	if !begun || !ended {
		t.Fatalf("%s has no table of %s", file, name)
	}
	if *updateDocs {
		text := head + begin + strings.Join(rows, "\n") + end + tail
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(rows, strings.Split(table, "\n")); diff != "" {
		t.Errorf("%s of %s are out of date, run the test with -update (-program +file):\n%s", name, file, diff)
	}
}
