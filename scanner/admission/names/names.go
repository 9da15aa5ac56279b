// Package names has in place of what a server chooses at random - uids and generated names - or takes
// from its clock what follows from the object, so that equal scans give equal reports.
package names

import (
	"crypto/sha256"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// UID derives a uid from what identifies an object.
func UID(id string) types.UID {
	return types.UID(uuid.NewSHA1(uuid.NameSpaceURL, []byte("preadmit.dev/"+id)).String())
}

// alphabet and lengths are those of k8s.io/apiserver/pkg/storage/names.
const (
	alphabet         = "bcdfghjklmnpqrstvwxz2456789"
	maxGeneratedBase = 58
	suffixLength     = 5
)

// Generated imitates the server's naming of metadata.generateName, with a
// suffix that follows from the object instead of chance.
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

// Fill sets the uid and creation time of a new object and, for metadata.generateName, a name. A
// server picks uid and suffix at random; these follow from what identifies the object.
func Fill(m metav1.Object, id string, created metav1.Time) {
	m.SetUID(UID(id))
	m.SetCreationTimestamp(created)
	if m.GetName() == "" && m.GetGenerateName() != "" {
		m.SetName(Generated(m.GetGenerateName(), id))
	}
}

// Complete sets the uid and creation time of an object that a server has, if it has none.
func Complete(m metav1.Object, id string, created metav1.Time) {
	if m.GetUID() == "" {
		m.SetUID(UID(id))
	}
	if was := m.GetCreationTimestamp(); was.IsZero() {
		m.SetCreationTimestamp(created)
	}
}
