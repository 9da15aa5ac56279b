package size_test

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/preadmit/preadmit/scanner/admission/size"
)

// TestNearEtcdsLimit: etcd's limit includes the key, so for an object just below it the result is not
// known.
func TestNearEtcdsLimit(t *testing.T) {
	for bytes, want := range map[int]string{
		size.MaxStored - 4096: "taken",
		size.MaxStored - 1:    "not known",
		size.MaxStored:        "not known",
		size.MaxStored + 1:    "refused",
	} {
		got, err := "not known", size.Stored(bytes)
		switch {
		case err == nil:
			got = "taken"
		case errors.As(err, new(*apierrors.StatusError)):
			got = "refused"
		}
		if got != want {
			t.Errorf("an object of %d bytes is %s (%v), want %s", bytes, got, err, want)
		}
	}
}
