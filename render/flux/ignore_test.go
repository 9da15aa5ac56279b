package flux

import (
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/sourceignore"
	"github.com/fluxcd/pkg/sourceignore/gitignore"
)

// TestMatcher compares with the library, which checks every pattern for every path.
func TestMatcher(t *testing.T) {
	texts := []string{
		sourceignore.ExcludeVCS, sourceignore.ExcludeExt, sourceignore.ExcludeCI, sourceignore.ExcludeExtra,
		"/*,!/apps", "**", "**/", "apps/**", "!apps/web,apps", "a*c/,# no pattern, ,web.y?ml ,we[b,we[bx]", `apps\/web,x\ `, "/apps/web/,**/prod/*.yaml,a**b/c",
	}
	names := []string{"apps", "web", "abc", "web.yaml", "web.yml", "prod", ".git", ".sops.yaml", "a.png", "x ", "a*c", "we[b"}
	paths := slices.Clone(names)
	for _, a := range names {
		for _, b := range names {
			paths = append(paths, a+"/"+b, "apps/"+a+"/"+b, "abc/"+a+"/prod/"+b)
		}
	}
	for _, text := range texts {
		lines := strings.ReplaceAll(text, ",", "\n")
		for _, domain := range [][]string{nil, {"apps"}} {
			library := gitignore.NewMatcher(sourceignore.ReadPatterns(strings.NewReader(lines), domain))
			m := newMatcher(parsePatterns(lines, domain))
			for _, name := range paths {
				for _, isDir := range []bool{false, true} {
					if got, want := m.matches(name, isDir), library.Match(strings.Split(name, "/"), isDir); got != want {
						t.Errorf("patterns %q, domain %v: %s (directory: %t) matches: %t, want %t", text, domain, name, isDir, got, want)
					}
				}
			}
		}
	}
}
