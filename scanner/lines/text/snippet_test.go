package text

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMaskFile(t *testing.T) {
	const in = `apiVersion: v1
kind: ConfigMap
data:
  color: green
---
apiVersion: v1
kind: Secret
metadata:
  name: token
  annotations: {note: hunter2}
stringData:
  password: hunter2
  "quoted.key": hunter2
  block: |
    hunter2
---
kind: Kustomization
configMapGenerator:
- name: c
  literals:
  - COLOR=green
secretGenerator:
- name: s
  literals:
  - PASSWORD=hunter2
images:
- name: c
---
{"kind": "Secret", "data": {"a": "hunter2"}}
`
	got := strings.Join(MaskFile(strings.Split(in, "\n")), "\n")
	if strings.Contains(got, "hunter2") {
		t.Errorf("a secret shows:\n%s", got)
	}
	for _, kept := range []string{"color: green", "- COLOR=green", "name: token", "  password: ***", "- PASSWORD=***", "images:\n- name: c"} {
		if !strings.Contains(got, kept) {
			t.Errorf("%q is gone:\n%s", kept, got)
		}
	}
}

func TestSnippetRange(t *testing.T) {
	lines := strings.Split("a\nb\nc\n---\nd\ne\nf\ng\nh", "\n")
	for _, tt := range []struct{ start, end, first, last int }{
		{1, 1, 1, 3}, {3, 3, 1, 3}, {5, 5, 5, 7}, {7, 7, 5, 9}, {9, 9, 7, 9}, {5, 9, 5, 9},
	} {
		first, last := SnippetRange(lines, tt.start, tt.end)
		if diff := cmp.Diff([]int{tt.first, tt.last}, []int{first, last}); diff != "" {
			t.Errorf("SnippetRange(%d, %d) (-want +got):\n%s", tt.start, tt.end, diff)
		}
	}
	long := make([]string, 100)
	if first, last := SnippetRange(long, 50, 90); last-first >= snippetLines {
		t.Errorf("%d to %d is too long", first, last)
	}
}
