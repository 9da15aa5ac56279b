package permit

import (
	"fmt"
	"strings"

	"github.com/preadmit/preadmit/render/artifact"
)

// Note returns a message about an artifact that was fetched without a lock, so that the report shows what was judged.
func Note(a artifact.Artifact, pin artifact.Pin) string {
	words := []string{pin.Digest}
	if pin.Commit != "" {
		words = append([]string{"commit " + pin.Commit}, words...)
	}
	if pin.Version != "" {
		words = append([]string{pin.Version}, words...)
	}
	return fmt.Sprintf("%s was fetched and is in no lock that counts: it is %s", a, strings.Join(words, ", "))
}
