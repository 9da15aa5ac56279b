package fetch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/preadmit/preadmit/render/artifact"
)

// TestIndexOutlivesItsFirstCaller checks that the end of the context of the first caller is not the error of every
// other chart of the repository, and that others do not wait for it longer than their own contexts.
func TestIndexOutlivesItsFirstCaller(t *testing.T) {
	var asked atomic.Bool
	began, release := make(chan struct{}), make(chan struct{})
	s := helmServer(t, func(string) string {
		if asked.CompareAndSwap(false, true) {
			close(began)
			<-release
		}
		return indexOf(t, "1.0.0")
	}, "1.0.0")
	defer close(release)
	client, _ := newClient(t, Options{}, s)
	a := artifact.Artifact{Kind: artifact.Chart, URL: s.URL + "/charts", Name: "app", Version: "1.0.0"}
	resolve := func(ctx context.Context, failed chan<- error) {
		_, err := client.Resolve(ctx, a)
		failed <- err
	}
	failed, impatient, second := make(chan error, 1), make(chan error, 1), make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go resolve(ctx, failed)
	<-began
	short, end := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer end()
	go resolve(short, impatient)
	if err := <-impatient; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want that of the own context", err)
	}
	go resolve(t.Context(), second)
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the own context", err)
	}
	if err := <-second; err != nil {
		t.Errorf("the second chart: %v", err)
	}
}

// TestIndexWithoutEntries checks that a file without entries is no index, whether it is YAML or JSON.
func TestIndexWithoutEntries(t *testing.T) {
	for _, text := range []string{"a: b\n", "{\"a\": \"b\"}", "null", ""} {
		if in, err := parseIndex([]byte(text)); err == nil || !strings.Contains(err.Error(), "it has no entries") {
			t.Errorf("%q: %v, error %v; want that it has no entries", text, in, err)
		}
	}
	for _, text := range []string{"entries: {}\n", "{\"entries\": {}}"} {
		if _, err := parseIndex([]byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestIndexKeys checks that the time and memory for an index do not grow with the square of the keys of a mapping.
func TestIndexKeys(t *testing.T) {
	const many = 300_000
	var distinct strings.Builder
	for i := range many {
		fmt.Fprintf(&distinct, "  c%d: [{version: 1.0, digest: null, urls: [a]}]\n", i)
	}
	for name, test := range map[string]struct{ text, want string }{
		"charts": {"entries:\n" + distinct.String(), ""},
		"equal":  {"entries:\n" + strings.Repeat("  a:\n", many), `line 3: the key "a" is there twice`},
		"items":  {"entries:\n  a: [" + strings.Repeat("x,", many) + "]", "chart a: line 2 is no mapping"},
		"urls":   {"entries:\n  a: [{urls: [" + strings.Repeat("[],", many) + "]}]", "chart a: line 2 is no text"},
	} {
		in, err := parseIndex([]byte(test.text))
		switch {
		case test.want != "" && (err == nil || err.Error() != test.want):
			t.Errorf("%s: %v, want %s", name, err, test.want)
		case test.want == "" && (err != nil || len(in.Entries) != many || in.Entries["c7"][0].Version != "1.0"):
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestIndexNodes checks that an index of which a few megabytes would need gigabytes of memory is not parsed, and that one
// of 64 MiB as Helm writes it is.
func TestIndexNodes(t *testing.T) {
	for _, hostile := range []string{"x,", "[", "{a: b},", "\n- a", "\r- a", "- ", "\n? a", "{},", "\u0085a:", "\u2028a:", "\u2029- a"} {
		text := "entries:\n  app: [" + strings.Repeat(hostile, maxNodes/2)
		if _, err := parseIndex([]byte(text)); err == nil || !strings.Contains(err.Error(), "more than the limit") {
			t.Errorf("%q: %v, want that it has too many values", hostile, err)
		}
	}
	const entry = `  - annotations:
      category: Database, and more
      images: |
        - name: os-shell
          image: registry.example.com/charts/os-shell:12-debian-12-r16
    apiVersion: v2
    appVersion: 2.4.58
    created: "2024-02-21T14:01:42.161937Z"
    dependencies:
    - name: common
      repository: oci://registry.example.com/charts
      tags:
      - common
      version: 2.x.x
    description: A server, with modules, that is packaged, tested and kept up to date.
    digest: 5cbae1d8a4a3be0a1b2f3e2ac5ae6a3ddc0f9b1c2d3e4f5a6b7c8d9e0f1a2b3c
    home: https://example.com
    maintainers:
    - name: Example, Inc.
      url: https://github.com/example/charts
    name: server
    sources:
    - https://github.com/example/charts/tree/main/example/server
    urls:
    - https://charts.example.com/server-10.5.2.tgz
    version: 10.5.2
`
	if n := mostNodes([]byte(strings.Repeat(entry, (64<<20)/len(entry)))); n > maxNodes {
		t.Errorf("an ordinary index of 64 MiB counts %d values, more than the limit of %d", n, maxNodes)
	}
}
