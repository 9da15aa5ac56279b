package intake

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"slices"
	"strings"
)

// signatureHeader has GitHub's HMAC of the body. The older X-Hub-Signature, with SHA-1, is
// ignored.
const signatureHeader = "X-Hub-Signature-256"

// parseSignature reads "sha256=" and 64 hexadecimal digits, nothing else.
func parseSignature(value string) ([]byte, bool) {
	digits, ok := strings.CutPrefix(value, "sha256=")
	if !ok || len(digits) != hex.EncodedLen(sha256.Size) {
		return nil, false
	}
	sum, err := hex.DecodeString(digits)
	return sum, err == nil
}

// usable returns the secrets that are not empty: anybody can sign with an empty one.
func usable(secrets [][]byte) [][]byte {
	return slices.DeleteFunc(slices.Clone(secrets), func(secret []byte) bool { return len(secret) == 0 })
}

// signed reports whether sum is the body's HMAC SHA-256 with one of the secrets. It compares
// with all of them in constant time.
func signed(body, sum []byte, secrets [][]byte) bool {
	found := 0
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, secret)
		mac.Write(body)
		found |= subtle.ConstantTimeCompare(mac.Sum(nil), sum)
	}
	return found == 1
}
