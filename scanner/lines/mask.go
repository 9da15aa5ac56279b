package lines

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/policy"
)

// mask stands for what a Secret holds.
const mask = policy.Hidden

// quotedBytes is how much of a line that is no separator rendering quotes.
const quotedBytes = 40

// hiddenBy returns what masking took out of lines.
func hiddenBy(lines, masked []string) []string {
	var hidden []string
	for i, line := range lines {
		if masked[i] != line {
			value := strings.TrimPrefix(line, strings.TrimSuffix(masked[i], mask))
			value = strings.TrimSpace(value)
			hidden = append(hidden, strings.Trim(value, `"'`))
			if strings.HasPrefix(line, "---") && len(value) > quotedBytes {
				hidden = append(hidden, value[:quotedBytes])
			}
		}
	}
	return hidden
}

// Conceal takes out of what is said of files - why something does not render, remarks
// - what those files have for Secrets. What policies say is concealed where they say it.
func (l *Locator) Conceal(r *report.Report) {
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Cause == report.CauseRender {
			f.Message = l.concealed(f.Message, f.Root, &f.Location)
		}
	}
	for i := range r.Indeterminate {
		n := &r.Indeterminate[i]
		n.Why = l.concealed(n.Why, n.Root, n.Location)
	}
	for i := range r.Diagnostics {
		d := &r.Diagnostics[i]
		d.Message = l.concealed(d.Message, d.Root, d.Location)
	}
}

// concealed returns a message without what the file at a location has for Secrets, nor the
// files that keep root from rendering: a message may quote why it did not before.
func (l *Locator) concealed(message, root string, at *report.Location) string {
	var hidden []string
	if at != nil && at.Path != "" {
		hidden = slices.Concat(hidden, l.texts.file(l.sideOf(at), at.Path).hidden)
	}
	for _, side := range l.change.Trees() {
		at, _ := side.RootAt(root)
		if r := side.Roots[side.ID(at)]; r != nil && r.Problem != nil && r.Problem.Path != "" {
			hidden = slices.Concat(hidden, l.texts.file(side, r.Problem.Path).hidden)
		}
	}
	return policy.ConcealValues(message, hidden)
}

// Concealed is why a root of a tree does not render, without what the file at fault
// has for Secrets: kustomize quotes it.
func Concealed(tree fs.FS, p *render.Problem) string {
	return policy.ConcealValues(p.Error(), readText(tree, p.Path).hidden)
}

// maskFile masks what is secret in a YAML file: data and stringData of documents of
// kind Secret, and the entries of secretGenerator.
func maskFile(lines []string) []string {
	out := make([]string, 0, len(lines))
	for start := 0; start < len(lines); {
		end := start + 1
		for end < len(lines) && !isSeparator(lines[end]) {
			end++
		}
		out = append(out, maskDocument(lines[start:end])...)
		start = end
	}
	return out
}

func maskDocument(lines []string) []string {
	isSecret := false
	for _, line := range lines {
		isSecret = isSecret || strings.Contains(line, "kind") && secretKind.MatchString(line)
	}
	block := ""
	out := make([]string, len(lines))
	for i, line := range lines {
		if isTopLevel(line) {
			if m := topKey.FindStringSubmatch(line); m != nil {
				block = m[1]
			}
		}
		out[i] = line
		if strings.HasPrefix(line, "---") && !isSeparator(line) {
			out[i] = "---" + mask // rendering refuses the file, and quotes the line
		} else if block == "secretGenerator" || isSecret && !topKeep.MatchString(line) {
			out[i] = maskLine(line)
		}
	}
	return out
}

// isTopLevel reports whether a line may have a key of a document. It spares matching the
// lines of large files.
func isTopLevel(line string) bool {
	return line != "" && line[0] != ' ' && line[0] != '-' && line[0] != '#'
}

// maskLine hides the value of a line but for keys that are never secret. A line
// without a key is a continued value.
func maskLine(line string) string {
	body := strings.TrimLeft(line, " -\t")
	indent := line[:len(line)-len(body)]
	key, value, ok := cutValue(body)
	switch {
	case body == "" || body[0] == '#' || isSeparator(line):
		return line
	case !ok:
		return indent + mask
	case value == "" || harmlessKey.MatchString(key):
		return line
	}
	return indent + key + mask
}

// cutValue cuts a line behind `key: `, `key:` or `KEY=`.
func cutValue(body string) (key, value string, ok bool) {
	m := keyPrefix.FindString(body)
	if m == "" {
		return "", "", false
	}
	return m, strings.TrimSpace(body[len(m):]), true
}

var (
	secretKind  = regexp.MustCompile(`(^|[\s{,])"?kind"?:\s*["']?Secret["']?\s*([,}#]|$)`)
	topKey      = regexp.MustCompile(`^["']?([A-Za-z]+)["']?:`)
	topKeep     = regexp.MustCompile(`^(apiVersion|kind|metadata|type|immutable):\s*[^{]*$`)
	keyPrefix   = regexp.MustCompile(`^["']?[A-Za-z0-9_.\-/]+["']?(:\s*$|:\s+|=)`)
	harmlessKey = regexp.MustCompile(`^["']?(apiVersion|kind|name|namespace|type|behavior|literals|files|envs|options|metadata|data|stringData)["']?:\s*$`)
)
