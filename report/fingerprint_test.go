package report_test

import (
	"testing"

	"github.com/preadmit/preadmit/report"
)

// TestUnnamed: only names that a server or controller generates are left out.
func TestUnnamed(t *testing.T) {
	for message, want := range map[string]string{
		`pods "web-x7k2f" is forbidden`:               `pods "" is forbidden`,
		`replicasets.apps "web-7988945f5f" is denied`: `replicasets.apps "" is denied`,
		`secret "web-credentials" is not there`:       `secret "web-credentials" is not there`,
		`secret "other-x7k2f" is not there`:           `secret "other-x7k2f" is not there`,
	} {
		if got := report.Unnamed(message, &report.Object{Kind: "Pod", GenerateName: "web-"}); got != want {
			t.Errorf("%s: %q, want %q", message, got, want)
		}
	}
}
