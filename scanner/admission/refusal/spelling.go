package refusal

import "regexp"

// misspelled maps wrong field names in validation errors to the right ones (validation of core, storage and
// apiextensions).
var misspelled = map[string]string{
	"JSONPath":                 "jsonPath",
	"LoadBalancerSourceRanges": "loadBalancerSourceRanges",
	"Spec":                     "spec",
	"attachedRequired":         "attachRequired",
	"cephFS":                   "cephfs",
	"downwarAPI":               "downwardAPI",
	"initiatorname":            "initiatorName",
	"persistentDisk":           "gcePersistentDisk",
	"targetportal":             "targetPortal",
}

var misspelledName = regexp.MustCompile(`(?:^|\.)(JSONPath|LoadBalancerSourceRanges|Spec|attachedRequired|cephFS|downwarAPI|initiatorname|persistentDisk|targetportal)(?:$|[.\[])`)

// spelled returns a field with the name that it has in an object.
func spelled(field string, object map[string]any) string {
	at := misspelledName.FindStringSubmatchIndex(field)
	if at == nil {
		return field
	}
	wrong, right := field[:at[3]], field[:at[2]]+misspelled[field[at[2]:at[3]]]
	if has(object, wrong) || !has(object, right) {
		return field
	}
	return right + field[at[3]:]
}
