package scanner_test

import (
	"slices"
	"testing"

	"github.com/preadmit/preadmit/scanner/lines"
)

func TestTypedFields(t *testing.T) {
	content := map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"a": "1", "a.example.com/b": int64(1)}},
		"spec": map[string]any{
			"imge": "x", "finalizers": []any{"one", "two"},
			"containers": []any{
				map[string]any{"name": "a"},
				map[string]any{"name": "web]", "ports": []any{
					map[string]any{"containerPort": int64(80), "nme": "b"},
					map[string]any{"containerPort": int64(81), "protocol": "UDP", "nme": "c"},
				}},
			},
		},
	}
	const one = "failed to create typed patch object (shop/web; apps/v1, Kind=Deployment): "
	for message, want := range map[string][]string{
		one + ".spec.imge: field not declared in schema":                                                               {"spec.imge"},
		one + "errors:\n  .spec.imge: field not declared in schema\n  .spec.size: no":                                  {"spec.imge", "spec"},
		one + `.spec.containers[name="web]"].ports[containerPort=81,protocol="UDP"].nme: field not declared in schema`: {"spec.containers[1].ports[1].nme"},
		one + `.spec.containers[name="web]"].ports[containerPort=80,protocol="TCP"].nme: field not declared in schema`: {"spec.containers[1].ports[0].nme"},
		one + `.spec.containers[name="other"].image: expected string`:                                                  {"spec.containers"},
		one + `.spec.finalizers[="two"]: duplicate`:                                                                    {"spec.finalizers[1]"},
		one + `.spec.containers[0].imge: field not declared in schema`:                                                 {"spec.containers[0]"},
		one + `.metadata.labels.a.example.com/b: expected string, got 1`:                                               {"metadata.labels[a.example.com/b]"},
		`Deployment.apps "web" is invalid: .spec.imge: no`:                                                             nil,
	} {
		if got := lines.TypedFields(message, content); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", message, got, want)
		}
	}
}
