package intake

import (
	"io"
	"log/slog"
	"net/http"
)

// Outcomes of deliveries, as metrics count them.
const (
	// Accepted: its job is stored.
	Accepted = "accepted"
	// Duplicate: it was processed before.
	Duplicate = "duplicate"
	// Ignored: there is no job for it.
	Ignored = "ignored"
	// Refused: it is not from GitHub, or not in GitHub's format.
	Refused = "refused"
	// Failed: it was not stored, and GitHub must send it again.
	Failed = "failed"
)

// answer is the response to a delivery.
type answer struct {
	status  int
	outcome string
	// why is one line for the reader of the delivery's page at GitHub. It contains nothing of
	// the request.
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

// unavailable returns an answer after which the delivery has to be sent again. err may be nil.
func unavailable(why string, err error) *answer {
	return &answer{status: http.StatusServiceUnavailable, outcome: Failed, why: why, err: err}
}

func tooLarge() *answer {
	return refuse(http.StatusRequestEntityTooLarge, "the body is larger than the 25 MB that GitHub sends")
}

// level returns the level at which the answer is logged, by how much an operator needs to know
// of it.
func (a *answer) level() slog.Level {
	switch a.outcome {
	case Failed:
		return slog.LevelError
	case Refused:
		return slog.LevelWarn
	}
	return slog.LevelDebug
}

// retryAfter is sent with 503, in seconds. GitHub ignores it, but a proxy in between may
// use it.
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
	// An error means that the client disconnected; GitHub then lists a failed delivery.
	_, _ = io.WriteString(w, a.outcome+": "+a.why+"\n")
}
