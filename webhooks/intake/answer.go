package intake

import (
	"io"
	"log/slog"
	"net/http"
)

// Outcomes of deliveries, as they are counted.
const (
	// Accepted: its job is stored.
	Accepted = "accepted"
	// Duplicate: it was taken before.
	Duplicate = "duplicate"
	// Ignored: it asks for nothing, or for nothing that can be done.
	Ignored = "ignored"
	// Refused: it is not from GitHub, or not as GitHub sends it.
	Refused = "refused"
	// Failed: it was not stored, and GitHub must send it again.
	Failed = "failed"
)

// answer is what a delivery is answered.
type answer struct {
	status  int
	outcome string
	// why is one line for the reader of the delivery's page at GitHub. It holds nothing
	// that the request said.
	why string
	// err is logged only.
	err error
}

func refuse(status int, why string) *answer {
	return &answer{status: status, outcome: Refused, why: why}
}

func ignore(why string) *answer {
	return &answer{status: http.StatusOK, outcome: Ignored, why: why}
}

func duplicate() *answer {
	return &answer{status: http.StatusOK, outcome: Duplicate, why: "this delivery was taken before"}
}

// unavailable asks for the delivery to be sent again. err may be nil.
func unavailable(why string, err error) *answer {
	return &answer{status: http.StatusServiceUnavailable, outcome: Failed, why: why, err: err}
}

func tooLarge() *answer {
	return refuse(http.StatusRequestEntityTooLarge, "the body is larger than the 25 MB that GitHub sends")
}

// level is where the answer is logged: what an operator has to look after is not a debug
// message.
func (a *answer) level() slog.Level {
	switch a.outcome {
	case Failed:
		return slog.LevelError
	case Refused:
		return slog.LevelWarn
	}
	return slog.LevelDebug
}

// retryAfter is sent with 503, in seconds. GitHub does not heed it; whatever stands
// between may.
const retryAfter = "30"

// write sends the answer.
func (a *answer) write(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	switch a.status {
	case http.StatusServiceUnavailable:
		header.Set("Retry-After", retryAfter)
	case http.StatusMethodNotAllowed:
		header.Set("Allow", http.MethodPost)
	}
	w.WriteHeader(a.status)
	// Whoever went away meanwhile does not get it; GitHub then lists a failed delivery.
	_, _ = io.WriteString(w, a.outcome+": "+a.why+"\n")
}
