package locate

import (
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render/origin"
)

// imageAlternatives returns images that differ from the given one in their name, and images that
// differ in their tag or digest.
func imageAlternatives(image string, texts []string) (fronts, backs []string) {
	name, version := origin.SplitImage(image)
	const digest = "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for _, v := range []string{"", ":1.2.3", ":v1.2.3", ":1", ":latest", digest, ":1.2.3" + digest} {
		backs = append(backs, name+v)
	}
	base := name[strings.LastIndexByte(name, '/')+1:]
	for _, n := range []string{base, "q", "registry.example.com/q", "docker.io/library/q"} {
		fronts = append(fronts, n+version)
	}
	for _, text := range texts {
		n, v := origin.SplitImage(text)
		for _, n := range []string{n, strings.TrimSuffix(n, "/") + "/" + base, n + base, strings.TrimSuffix(n, "/") + "/" + name} {
			if !strings.ContainsAny(n, "@ ") {
				fronts = append(fronts, n+version)
			}
		}
		for _, v := range []string{v, ":" + strings.TrimLeft(text, ":"), ":1" + text, "@" + strings.TrimLeft(text, "@")} {
			if v != "" && !strings.Contains(v, "/") {
				backs = append(backs, name+v)
			}
		}
	}
	return without(image, fronts), without(image, backs)
}

// nameAlternatives returns texts that differ from the given one at the beginning, and texts that
// differ at the end.
func nameAlternatives(name string, texts []string) (fronts, backs []string) {
	for _, text := range append([]string{"q"}, texts...) {
		fronts = append(fronts, text+name, text+"-"+name)
		backs = append(backs, name+text, name+"-"+text)
	}
	return fronts, backs
}

func without(s string, list []string) []string {
	return slices.DeleteFunc(list, func(v string) bool { return v == s })
}

// exampleOf returns a short text that matches a pattern; empty if the text is not a pattern or has
// no metacharacters.
func exampleOf(pattern string) string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil || !strings.ContainsAny(pattern, `^$[](){}|*+?\`) {
		return ""
	}
	var out strings.Builder
	writeExample(&out, re.Simplify())
	return out.String()
}

func writeExample(out *strings.Builder, re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		out.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		if len(re.Rune) > 0 {
			out.WriteRune(printable(re.Rune))
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		out.WriteByte('q')
	case syntax.OpCapture, syntax.OpPlus, syntax.OpConcat:
		for _, sub := range re.Sub {
			writeExample(out, sub)
		}
	case syntax.OpAlternate:
		writeExample(out, re.Sub[0])
	case syntax.OpRepeat:
		for range min(re.Min, 128) {
			writeExample(out, re.Sub[0])
		}
	}
}

// printable returns a common rune of a character class, given as ranges.
func printable(ranges []rune) rune {
	for _, want := range "q1a" {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= want && want <= ranges[i+1] {
				return want
			}
		}
	}
	return ranges[0]
}
