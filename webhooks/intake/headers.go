package intake

import (
	"mime"
	"net/http"
	"strings"

	"github.com/google/uuid"
)

// delivery has the values of a request's headers.
type delivery struct {
	// event is GitHub's name of the event, like projects_v2_item.
	event string
	// guid identifies the delivery, in lower case. A redelivery has the same.
	guid string
	// sum is the signature, not yet checked.
	sum []byte
}

// maxEvent is the maximum length of an event's name, in bytes; GitHub's longest has 40.
const maxEvent = 64

// readHeaders checks everything that can be checked without the body.
func readHeaders(r *http.Request) (*delivery, *answer) {
	if r.Method != http.MethodPost {
		return nil, refuse(http.StatusMethodNotAllowed, "deliveries come as POST")
	}
	if a := checkContent(r); a != nil {
		return nil, a
	}
	event := one(r, "X-GitHub-Event")
	if !isEventName(event) {
		return nil, refuse(http.StatusBadRequest, "the header X-GitHub-Event is missing or names no event")
	}
	guid := one(r, "X-GitHub-Delivery")
	if len(guid) != 36 || uuid.Validate(guid) != nil {
		return nil, refuse(http.StatusBadRequest, "the header X-GitHub-Delivery is missing or no GUID")
	}
	sum, ok := parseSignature(one(r, signatureHeader))
	if !ok {
		return nil, refuse(http.StatusUnauthorized, "the header "+signatureHeader+
			" is missing or no sha256 signature: set a secret for the webhook, the same here and at GitHub")
	}
	return &delivery{event: event, guid: strings.ToLower(guid), sum: sum}, nil
}

// checkContent rejects content that is not plain JSON of a size that GitHub sends.
func checkContent(r *http.Request) *answer {
	media, params, err := mime.ParseMediaType(one(r, "Content-Type"))
	if charset := params["charset"]; err != nil || media != "application/json" || charset != "" && !strings.EqualFold(charset, "utf-8") {
		return refuse(http.StatusUnsupportedMediaType, "the body must be JSON: set the webhook's content type to application/json")
	}
	if encoding := one(r, "Content-Encoding"); encoding != "" && encoding != "identity" {
		return refuse(http.StatusUnsupportedMediaType, "the body must not be compressed")
	}
	if r.ContentLength > MaxBody {
		return tooLarge()
	}
	return nil
}

// one returns the value of a header, "" if it occurs more than once.
func one(r *http.Request, name string) string {
	if values := r.Header.Values(name); len(values) == 1 {
		return values[0]
	}
	return ""
}

func isEventName(s string) bool {
	if s == "" || len(s) > maxEvent {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}
