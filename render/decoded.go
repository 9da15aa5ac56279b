package render

import (
	"crypto/sha256"
	"encoding/hex"
	"math"

	"github.com/preadmit/preadmit/render/tree"
)

// decodedFiles stores decoded manifest files in the cache. It implements tree.DecodedFiles.
type decodedFiles struct{ cache *Cache }

// decodedFormat is the version of the format of these entries.
const decodedFormat = "preadmit-decoded-1"

// minDecoded is the size in bytes from which files are stored: reading an entry of a smaller file takes about as long
// as decoding the file.
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
