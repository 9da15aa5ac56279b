package policy_test

import (
	"fmt"
	"testing"

	"github.com/preadmit/preadmit/scanner/policy/secrets"
)

// TestConceal: values of a Secret are hidden, including those that are no text, in the form in which
// errors of an API server have them.
func TestConceal(t *testing.T) {
	secret := map[string]any{
		"apiVersion": "v1", "kind": "Secret",
		"data": "everything",
		"stringData": map[string]any{
			"number": int64(123456789), "fraction": 1234.5678, "list": []any{"in a list"}, "map": map[string]any{"a": "in a map"},
			"text": "as it is", "quoted": "two\n\"lines\"", "short": int64(12345), "yes": true, "nothing": nil,
		},
	}
	for _, text := range []string{"everything", "123456789", "1234.5678", "in a list", "in a map", "as it is", `two\n\"lines\"`, fmt.Sprintf("%#v", 1234.5678)} {
		if got := secrets.Conceal("got <"+text+">", secret); got != "got <***>" {
			t.Errorf("%s: %s", text, got)
		}
	}
	if got := secrets.Conceal("got true, not 12345", secret); got != "got true, not 12345" {
		t.Errorf("words: %s", got)
	}
	config := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"a": int64(123456789)}}
	if got := secrets.Conceal("got 123456789", config); got != "got 123456789" {
		t.Errorf("a ConfigMap: %s", got)
	}
}
