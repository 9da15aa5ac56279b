package main

import (
	"regexp"
	"slices"
	"strings"
)

var uid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// Updates are sent as dry runs, in whose errors keys of objects lack the prefix of etcd
// (k8s.io/apiserver/pkg/registry/generic/registry, DryRunnableStorage).
const storageKey, dryRunKey = "Key: /registry/", "Key: /"

// sameMessage reports whether two messages about a manifest are the same except for what differs from
// run to run: identities that a server generates, and, since maps have no order, the order of errors
// and which of several errors about types or base64 is found first.
func sameMessage(a, b string, manifest map[string]any) bool {
	a, b = uid.ReplaceAllString(a, "UID"), uid.ReplaceAllString(b, "UID")
	a, b = strings.ReplaceAll(a, storageKey, dryRunKey), strings.ReplaceAll(b, storageKey, dryRunKey)
	a, b = nodePort.ReplaceAllString(a, "${1}N"), nodePort.ReplaceAllString(b, "${1}N")
	a, b = patchedObject.ReplaceAllString(a, "${1}X"), patchedObject.ReplaceAllString(b, "${1}X")
	a, b = tokenVolume.ReplaceAllString(a, "${1}X"), tokenVolume.ReplaceAllString(b, "${1}X")
	a, b = base64Error.ReplaceAllString(a, "${1}N"), base64Error.ReplaceAllString(b, "${1}N")
	if a == b || (customResource.MatchString(a) || metadataErrors.MatchString(a)) && sortedErrors(a) == sortedErrors(b) {
		return true
	}
	what, problems, typed := typeErrors(a, manifest)
	whatOther, others, typedOther := typeErrors(b, manifest)
	if !typed || !typedOther || what != whatOther {
		return false
	}
	notIn := func(list []string) func(string) bool {
		return func(s string) bool { return !slices.Contains(list, s) }
	}
	return !slices.ContainsFunc(problems, notIn(others)) || !slices.ContainsFunc(others, notIn(problems))
}

// customResource matches the beginning of a refusal of a custom resource.
var customResource = regexp.MustCompile(`^[A-Z]\w+\.updates\.example\.com "`)

// metadataErrors matches a part of a refusal of labels or annotations.
var metadataErrors = regexp.MustCompile(`metadata\.(labels|annotations): Invalid value: `)

// sortedErrors returns a refusal with its errors sorted: a server finds errors of a schema, and of labels and
// annotations, by iterating over maps.
func sortedErrors(message string) string {
	what, list, _ := strings.Cut(message, " is invalid: ")
	all := strings.Split(strings.Trim(list, "[]"), ", ")
	slices.Sort(all)
	return what + strings.Join(all, ", ")
}

// nodePort matches an allocated node port.
var nodePort = regexp.MustCompile(`(nodePort: Duplicate value: |duplicate nodePort: \{TCP )3[0-2]\d\d\d`)

// patchedObject matches the text of a custom resource, which has times and managers.
var patchedObject = regexp.MustCompile(`(patch: Invalid value: )"\{.*\}"`)

var base64Error = regexp.MustCompile(`(illegal base64 data at input byte )\d+`)

// undeclared is the end of a problem for a field that a kind does not have. Of several such fields in one
// place, the server reports the one that it finds first.
const undeclared = ": field not declared in schema"

// typeErrors splits the server's message for a manifest with wrong types into its problems, with the names
// of undeclared fields replaced.
func typeErrors(message string, manifest map[string]any) (what string, problems []string, ok bool) {
	what, list, ok := strings.Cut(message, "): ")
	if !ok || !strings.HasPrefix(message, "failed to create typed patch object") {
		return message, nil, false
	}
	for problem := range strings.SplitSeq(strings.TrimPrefix(list, "errors:\n  "), "\n  ") {
		if field, ok := strings.CutSuffix(problem, undeclared); ok {
			if place, ok := placeOf(manifest, field); ok {
				problem = place + ".X" + undeclared
			}
		}
		problems = append(problems, problem)
	}
	return what, problems, true
}

// placeOf returns the path of the map in a value that has a field. It needs the value to find the start of
// the field's name, which may contain dots.
func placeOf(value any, field string) (place string, ok bool) {
	switch v := value.(type) {
	case map[string]any:
		for key, in := range v {
			rest, here := strings.CutPrefix(field, "."+key)
			if here && rest == "" {
				return "", true
			}
			if inner, ok := placeOf(in, rest); here && ok {
				return "." + key + inner, true
			}
		}
	case []any:
		for end, char := range field {
			for _, item := range v {
				if inner, ok := placeOf(item, field[end+1:]); char == ']' && ok {
					return field[:end+1] + inner, true
				}
			}
		}
	}
	return "", false
}
