package render

import (
	"crypto/sha256"
	"encoding/hex"
	"math"

	"github.com/preadmit/preadmit/render/tree"
)

// decodedFiles keeps in the cache what manifest files decode to. It implements tree.DecodedFiles.
type decodedFiles struct{ cache *Cache }

// decodedFormat is the version of its entries' format.
const decodedFormat = "preadmit-decoded-1"

// minDecoded is how large a file is at least that is kept, in bytes: of smaller ones an entry takes about as long
// as decoding them.
const minDecoded = 16 << 10

// Load implements tree.DecodedFiles.
func (d decodedFiles) Load(content []byte) []tree.Decoded {
	var documents []tree.Decoded
	if len(content) < minDecoded || !d.cache.read(decodedKey(content), &documents) {
		return nil
	}
	return documents
}

// Keep implements tree.DecodedFiles.
func (d decodedFiles) Keep(content []byte, documents []tree.Decoded) {
	if len(content) >= minDecoded && len(documents) > 0 {
		d.cache.keep(decodedKey(content), documents, math.MaxInt)
	}
}

func decodedKey(content []byte) cacheKey {
	sum := sha256.Sum256(content)
	return newCacheKey(decodedFormat, program(), hex.EncodeToString(sum[:]))
}
