package text

import (
	"regexp"
	"strings"

	"github.com/preadmit/preadmit/render/tree"
	"github.com/preadmit/preadmit/report"
)

// MaskFile masks secret values in a YAML file: those of Secrets and of patches of Secrets, and the
// literals of secretGenerator.
func MaskFile(lines []string) []string {
	out := make([]string, 0, len(lines))
	for start := 0; start < len(lines); {
		end := start + 1
		for end < len(lines) && !IsSeparator(lines[end]) {
			end++
		}
		out = append(out, maskDocument(lines[start:end])...)
		start = end
	}
	return out
}

// maskDocument masks the values of Secrets. A document that does not parse and mentions a Secret is
// masked completely.
func maskDocument(lines []string) []string {
	if !mayHoldSecret(lines) {
		return lines
	}
	return maskSecrets(lines)
}

func maskSecrets(lines []string) []string {
	secret, ok := secretLines(lines)
	if !ok {
		return maskUnparsed(lines)
	}
	out := make([]string, len(lines))
	for i, line := range lines {
		if out[i] = line; secret[i] {
			out[i] = MaskLine(line)
		}
	}
	return out
}

func maskUnparsed(lines []string) []string {
	isSecret := false
	for _, line := range lines {
		isSecret = isSecret || strings.Contains(line, "kind") && secretKind.MatchString(line) || strings.Contains(line, "Secret") && isSeveral(line)
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
		if strings.HasPrefix(line, "---") && !IsSeparator(line) {
			out[i] = "---" + report.Mask // rendering refuses the file and quotes the line
		} else if block == "secretGenerator" || isSecret && (!topKeep.MatchString(line) || isSeveral(line)) {
			out[i] = MaskLine(line)
		}
	}
	return out
}

// isSeveral reports whether a line of a file is several lines for the parser of YAML.
func isSeveral(line string) bool { return tree.NewParserLines(strings.TrimSuffix(line, "\r")) != nil }

// isTopLevel reports whether a line may have a top-level key. It is a cheap test before matching,
// for large files.
func isTopLevel(line string) bool {
	return line != "" && line[0] != ' ' && line[0] != '-' && line[0] != '#'
}

// MaskLine masks the value of a line except for keys that are never secret. A line without a key
// continues a value and is masked.
func MaskLine(line string) string {
	body := strings.TrimLeft(line, " -\t")
	indent := line[:len(line)-len(body)]
	key, value, ok := cutValue(body)
	switch {
	case isSeveral(line):
		return indent + report.Mask
	case body == "" || body[0] == '#' || IsSeparator(line):
		return line
	case !ok:
		return indent + report.Mask
	case strings.Trim(value, "[{") == "" || harmlessKey.MatchString(key), metadataKey.MatchString(key) && !strings.Contains(value, "annotations"):
		return line
	}
	return indent + key + report.Mask
}

// cutValue splits a line after `key: `, `key:` or `KEY=`.
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
	harmlessKey = regexp.MustCompile(`^["']?(apiVersion|kind|name|namespace|type|behavior|files|envs|options)["']?:\s*$`)
	metadataKey = regexp.MustCompile(`^["']?metadata["']?:\s*$`) // also in braces, without annotations
)
