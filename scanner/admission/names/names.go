// Package names derives values from an object that a server chooses at random (uids and generated names) or
// takes from its clock, so that equal scans give equal reports.
package names

import (
	"crypto/sha256"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// UID returns a uid that is derived from an object's identity.
func UID(id string) types.UID {
	return types.UID(uuid.NewSHA1(uuid.NameSpaceURL, []byte("preadmit.dev/"+id)).String())
}

// The alphabet and lengths are those of k8s.io/apiserver/pkg/storage/names.
const (
	alphabet         = "bcdfghjklmnpqrstvwxz2456789"
	maxGeneratedBase = 58
	suffixLength     = 5
)

// Generated returns a name for metadata.generateName like the server's, with a suffix that is derived
// from the object's identity instead of a random one.
func Generated(base, id string) string {
	if len(base) > maxGeneratedBase {
		base = base[:maxGeneratedBase]
	}
	sum := sha256.Sum256([]byte(id))
	suffix := make([]byte, suffixLength)
	for i := range suffix {
		suffix[i] = alphabet[int(sum[i])%len(alphabet)]
	}
	return base + string(suffix)
}

// Fill sets the uid and creation time of a new object and, for metadata.generateName, a name. The uid
// and the suffix are derived from the object's identity.
func Fill(m metav1.Object, id string, created metav1.Time) {
	m.SetUID(UID(id))
	m.SetCreationTimestamp(created)
	if m.GetName() == "" && m.GetGenerateName() != "" {
		m.SetName(Generated(m.GetGenerateName(), id))
	}
}

// Complete sets the uid and creation time of a stored object, if it has none.
func Complete(m metav1.Object, id string, created metav1.Time) {
	if m.GetUID() == "" {
		m.SetUID(UID(id))
	}
	if was := m.GetCreationTimestamp(); was.IsZero() {
		m.SetCreationTimestamp(created)
	}
}
