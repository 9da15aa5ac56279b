package text

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/internal/testall"
)

// TestOnlySecretsAreMasked checks that values of Secrets are masked, and nothing else. Lines to be
// masked end with hunter2.
func TestOnlySecretsAreMasked(t *testing.T) {
	const file = `apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata: {name: grant}
spec:
  from:
  - group: gateway.networking.k8s.io
    kind: HTTPRoute
  to:
  - group: ""
    kind: Secret
    name: tls
---
apiVersion: v1
kind: Secret
metadata:
  name: db
  labels:
    app: web
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: hunter2
type: Opaque
stringData:
  password: hunter2
  cert: |
    hunter2
  # a comment
data:
  token: hunter2
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: plain}
  data:
    mode: fast
- apiVersion: v1
  kind: Secret
  metadata: {name: db}
  data:
    password: hunter2
- apiVersion: v1
  kind: Secret
  metadata: {name: db, annotations: {kept: hunter2}}
  stringData: {password: hunter2}
---
resources: [a.yaml]
secretGenerator:
- name: keys
  type: Opaque
  files:
  - missing.txt
  - key=path/to.txt
  literals:
  - password=hunter2
  options:
    labels: {a: b}
- name: flow
  files: [missing.txt]
  literals: [hunter2, password=hunter2]
- name: lines
  literals: [
    hunter2,
    password=hunter2 ]
configMapGenerator:
- name: plain
  literals:
  - mode=fast
patches:
- target: {kind: Secret}
  patch: |-
    - {op: replace, path: /data/password, value: hunter2
    - hunter2
- path: other.yaml
- patch: |-
    kind: Secret
    metadata:
      name: db
    stringData:
      password: hunter2
images:
- name: nginx
`
	lines := strings.Split(file, "\n")
	var got []string
	for i, line := range MaskFile(lines) {
		block := strings.HasSuffix(lines[i], "|") || strings.HasSuffix(lines[i], "|-")
		if strings.Contains(line, "hunter2") || line != lines[i] && !block && !strings.Contains(lines[i], "hunter2") {
			got = append(got, lines[i]+" -> "+line)
		}
	}
	if len(got) > 0 {
		t.Errorf("not masked, or masked for nothing:\n%s", strings.Join(got, "\n"))
	}
}

// TestMaskUnparsed checks that a document which does not parse is masked wherever it may have values of
// a Secret.
func TestMaskUnparsed(t *testing.T) {
	for _, lines := range [][]string{
		{"kind: Secret", "data:", "  password: hunter2", "  - : : [", "type: Opaque"},
		{"kind: ConfigMap", "...", "kind: Secret", "data:", "  password: hunter2", "type: Opaque"},
		{"kind: Secret", "--- a=hunter2", "type: Opaque"},
	} {
		if out := strings.Join(MaskFile(lines), "\n"); strings.Contains(out, "hunter2") || !strings.Contains(out, "type: Opaque") {
			t.Errorf("%s", out)
		}
	}
}

// TestMaskOtherLineEnds checks that values of Secrets are masked where YAML's parser ends lines at more characters than
// a line feed.
func TestMaskOtherLineEnds(t *testing.T) {
	for _, end := range []string{"\r#", "\u0085", "\u2028", "\u2029"} {
		for _, text := range []string{
			"# a" + end + end + "\nkind: Secret\nmetadata: {name: a}\nstringData:\n  one: hunter2\n  two: hunter3\ntype: Opaque",
			"# a" + end + end + "\nsecretGenerator:\n- name: a\n  literals:\n  - one=hunter2\n  - two=hunter3\n\n",
			strings.ReplaceAll("kind: Secret\nstringData: {one: hunter2}\n---\nkind: Secret\nstringData: {one: hunter3}\n", "\n", strings.TrimSuffix(end, "#")),
			strings.ReplaceAll("a: b\n---\nsecretGenerator:\n- literals: [a=hunter2]\n---\nkind: Secret\n", "\n", strings.TrimSuffix(end, "#")),
			"kind: Secret\nstringData:\n  # a" + strings.TrimSuffix(end, "#") + "  one: hunter2\n  two: \"" + end + "hunter3\"\n",
		} {
			if got := strings.Join(MaskFile(strings.Split(text, "\n")), "\n"); strings.Contains(got, "hunter") {
				t.Errorf("%q: %q", text, got)
			}
		}
	}
}

// TestMayHoldSecret compares the cheap test with masking of generated documents.
func TestMayHoldSecret(t *testing.T) {
	parts := []string{
		"kind", "kind: ", "\"kind\": ", "kind:", "Secret", "Secret", "Secret", "\"Secret\"", "'Secret'", "Secrets", "a", "the ", "data: {a: b}", "stringData: {a: b}", "metadata: {name: a}",
		"secretGenerator", "literals: [a=b]", "target: ", "patch: ", "patch: |", ": ", "- ", "? ", "&a ", "*a", "!!str ", ">-", "|", "\n", "\n  ", "\n", "\n    ", "{", "}", "[", "]", ", ",
		"# ", " ", "\t", "\\n", "\\\"", "\"", "'", ".", "/", "---", "--- a", "...", "\u0085", "\u2028", "\r",
	}
	if long := []string{"kind: !<" + strings.Repeat("t", 200) + "> Secret"}; !mayHoldSecret(long) {
		t.Error("a Secret after a long tag is not seen")
	}
	masked, spared := 0, 0
	for seed := range uint64(testall.Count(20_000, 500_000)) {
		r := rand.New(rand.NewPCG(seed, 7))
		var b strings.Builder
		for range 2 + r.IntN(9) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		lines := strings.Split(b.String(), "\n")
		may, differs := mayHoldSecret(lines), !slices.Equal(maskSecrets(lines), lines)
		switch {
		case differs && !may:
			t.Fatalf("a Secret is not seen in %q", b.String())
		case differs:
			masked++
		case !may && strings.Contains(b.String(), "Secret"):
			spared++
		}
	}
	if masked < 300 || spared < 300 {
		t.Errorf("%d documents have a Secret, %d only the word: too few", masked, spared)
	}
}
