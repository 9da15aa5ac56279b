package admission

import (
	"crypto/sha256"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/types"
)

// uidOf derives a uid from what identifies an object.
func uidOf(id string) types.UID {
	return types.UID(uuid.NewSHA1(uuid.NameSpaceURL, []byte("preadmit.dev/"+id)).String())
}

// alphabet and lengths are those of k8s.io/apiserver/pkg/storage/names.
const (
	nameAlphabet     = "bcdfghjklmnpqrstvwxz2456789"
	maxGeneratedBase = 58
	suffixLength     = 5
)

// generatedName imitates the server's naming of metadata.generateName, with a
// suffix that follows from the object instead of chance.
func generatedName(base, id string) string {
	if len(base) > maxGeneratedBase {
		base = base[:maxGeneratedBase]
	}
	sum := sha256.Sum256([]byte(id))
	suffix := make([]byte, suffixLength)
	for i := range suffix {
		suffix[i] = nameAlphabet[int(sum[i])%len(nameAlphabet)]
	}
	return base + string(suffix)
}
