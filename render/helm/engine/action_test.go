package engine_test

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/render/helm/engine"
)

// TestTextsOfActions compares the functions that parse the texts of actions with equivalent regular
// expressions: for lines of real templates, and random texts.
func TestTextsOfActions(t *testing.T) {
	variable, included := regexp.MustCompile(`\$\w+`), regexp.MustCompile(`\b(?:include|template) "([^"]+)"`)
	readKey := regexp.MustCompile(`\.(\w+)|"([^"]+)"`)
	checked := 0
	check := func(text string) {
		t.Helper()
		var keys, variables, includes []string
		before, end := "", 0
		for _, at := range readKey.FindAllStringSubmatchIndex(text, -1) {
			quoted, key := at[2] < 0, text[max(at[2], at[4]):max(at[3], at[5])]
			keys = append(keys, key)
			if before != "" && strings.TrimSpace(text[end:at[0]]) == "" && (quoted || end == at[0]) {
				keys = append(keys, before+"."+key)
			}
			before, end = key, at[1]
		}
		for _, v := range variable.FindAllString(text, -1) {
			if v != "$_" && !slices.Contains(variables, v) {
				variables = append(variables, v)
			}
		}
		for _, found := range included.FindAllStringSubmatch(text, -1) {
			includes = append(includes, found[1])
		}
		gotKeys, gotVariables, gotIncludes := engine.ReadIn(text)
		if !slices.Equal(gotKeys, keys) || !slices.Equal(gotVariables, variables) || !slices.Equal(gotIncludes, includes) {
			t.Fatalf("%q reads %q, %q and %q, want %q, %q and %q", text, gotKeys, gotVariables, gotIncludes, keys, variables, includes)
		}
		checked++
	}
	parts := []string{"include ", "template ", `"`, `"`, "a", "b_1", ".", " ", "$", "$_", "|", "\n", "-", "Values", "é"}
	random := rand.New(rand.NewPCG(1, 2))
	for range 50_000 {
		var text strings.Builder
		for range random.IntN(12) {
			text.WriteString(parts[random.IntN(len(parts))])
		}
		check(text.String())
	}
	for _, archive := range testall.Sample(archives(t), 20) {
		for _, f := range loadArchive(t, archive).Templates {
			for line := range strings.Lines(string(f.Data)) {
				check(line)
			}
		}
	}
	t.Logf("%d texts", checked)
}
