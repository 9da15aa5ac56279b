package pages

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"github.com/preadmit/preadmit/webhooks/app"
	"github.com/preadmit/preadmit/webhooks/queue"
)

const (
	// longestRequest limits the body of a request to start a scan, in bytes.
	longestRequest = 64 << 10
	// longestKey limits an Idempotency-Key, in characters.
	longestKey = 255
	// largestPull is the largest number that a pull request may have.
	largestPull = 1<<31 - 1
)

// startRequest is the body of a request to start a scan.
type startRequest struct {
	Repository string `json:"repository"`
	Pull       int64  `json:"pull"`
}

// started is the body of the response.
type started struct {
	ID  string `json:"id"`
	URL string `json:"url"`
}

// apiStart enqueues a scan of a pull request. For a repeated idempotency key it returns the same
// response as before.
func (p *Pages) apiStart(w http.ResponseWriter, r *http.Request, t *Token) error {
	asked, err := readStart(r)
	if err != nil {
		return err
	}
	key, err := idempotencyKey(r)
	if err != nil {
		return err
	}
	owner, repo, _ := strings.Cut(asked.Repository, "/")
	if !t.may(owner, repo) {
		return &apiProblem{Status: http.StatusForbidden, Detail: "The token is not for this repository."}
	}
	id := keyedID(t, key, asked)
	before, err := p.startedBefore(r.Context(), id)
	if err == nil && !before {
		id, err = p.enqueueFor(r.Context(), t, id, owner, repo, int(asked.Pull))
	}
	if err != nil {
		return err
	}
	at := p.absolute("/api/v1/scans/" + id)
	w.Header().Set("Location", at)
	return p.answer(w, http.StatusAccepted, started{id, at})
}

// enqueueFor enqueues the scan of a pull request for a token, and returns its id. A non-empty id
// is derived from an idempotency key: of several such requests only the first enqueues.
func (p *Pages) enqueueFor(ctx context.Context, t *Token, id, owner, repo string, pull int) (string, error) {
	if p.config.App == nil {
		return "", &apiProblem{Status: http.StatusServiceUnavailable, after: retryAfter, Detail: "The service is no GitHub App yet: set it up first."}
	}
	if wait := p.starts.wait(t, p.config.Now()); wait > 0 {
		return "", &apiProblem{Status: http.StatusTooManyRequests, after: wait, Detail: "The token started too many scans. Send the request again later."}
	}
	short, cancel := context.WithTimeout(ctx, githubTimeout)
	defer cancel()
	installation, repository, err := p.config.App.InstallationOf(short, owner, repo)
	if errors.Is(err, app.ErrGone) || errors.Is(err, app.ErrSuspended) {
		return "", badField("repository", "the App is not installed there, or there is no such repository")
	}
	if err != nil {
		return "", fmt.Errorf("find the installation of a repository: %w", err)
	}
	job := queue.Job{
		ID: id, Kind: queue.KindPull, Installation: installation, Repository: repository, Owner: owner, Repo: repo,
		Pull: pull, Fresh: true, Sender: t.Name, Reason: "api",
	}
	if id != "" {
		job.Delivery = "api-" + id
	}
	if job, _, err = p.config.Queue.Enqueue(ctx, job); err != nil {
		return "", fmt.Errorf("enqueue a scan: %w", err)
	}
	return job.ID, nil
}

// startedBefore reports whether a scan with the id of an idempotency key exists.
func (p *Pages) startedBefore(ctx context.Context, id string) (bool, error) {
	if id == "" {
		return false, nil
	}
	_, err := p.config.Queue.Scan(ctx, id)
	if errors.Is(err, queue.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// readStart decodes the request's body, strictly.
func readStart(r *http.Request) (*startRequest, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, &apiProblem{Status: http.StatusUnsupportedMediaType, Detail: "Send JSON, with Content-Type: application/json."}
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, longestRequest+1))
	if err != nil {
		return nil, &apiProblem{Status: http.StatusBadRequest, Detail: "The body could not be read."}
	}
	if len(body) > longestRequest {
		return nil, &apiProblem{Status: http.StatusRequestEntityTooLarge, Detail: fmt.Sprintf("The body has more than %d bytes.", longestRequest)}
	}
	asked := &startRequest{}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(asked); err != nil {
		return nil, decodeProblem(err)
	}
	if decoder.More() {
		return nil, badField("", "there is something after the JSON object")
	}
	return asked, asked.check()
}

func decodeProblem(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return badField(wrong.Field, "this may not be a JSON "+wrong.Value)
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return badField(strings.Trim(name, `"`), "no such field: there are repository and pull")
	}
	return badField("", "want a JSON object like {\"repository\": \"owner/name\", \"pull\": 7}")
}

func (s *startRequest) check() error {
	owner, repo, _ := strings.Cut(s.Repository, "/")
	var wrong []fieldError
	if !repositoryName(owner) || !repositoryName(repo) {
		wrong = append(wrong, fieldError{"repository", "want owner/name"})
	}
	if s.Pull < 1 || s.Pull > largestPull {
		wrong = append(wrong, fieldError{"pull", "want the number of a pull request"})
	}
	if len(wrong) > 0 {
		return badFields(wrong)
	}
	return nil
}

func badField(field, reason string) error { return badFields([]fieldError{{field, reason}}) }

func badFields(wrong []fieldError) error {
	return &apiProblem{Status: http.StatusBadRequest, Detail: "The request is not one for a scan.", Errors: wrong}
}

// idempotencyKey returns the header by which a client may repeat a request without repeating its effect.
func idempotencyKey(r *http.Request) (string, error) {
	key := r.Header.Get("Idempotency-Key")
	if len(key) > longestKey || strings.ContainsFunc(key, func(c rune) bool { return c < ' ' || c > '~' }) {
		return "", badField("Idempotency-Key", fmt.Sprintf("want at most %d printable ASCII characters", longestKey))
	}
	return key, nil
}

// keyedID returns the id of the scan that a token's request with an idempotency key starts: a UUID
// of version 8, derived from all of these. It is empty without a key.
func keyedID(t *Token, key string, asked *startRequest) string {
	if key == "" {
		return ""
	}
	text := fmt.Sprintf("%s\x00%s\x00%d\x00%s", t.SHA256, strings.ToLower(asked.Repository), asked.Pull, key)
	sum := sha256.Sum256([]byte(text))
	var id uuid.UUID
	copy(id[:], sum[:])
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return id.String()
}
