package githubtest

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"unicode/utf8"
)

// Comment is one on a pull request.
type Comment struct {
	ID     int64
	Pull   int
	Author string
	Body   string
}

// File is one of the pull request; every pull request has the same. Status is
// "modified" when empty.
type File struct{ Path, Status string }

// SARIF is an upload, unpacked.
type SARIF struct {
	CommitSHA, Ref string
	Log            []byte
}

// Comments are copies of all comments, in the order they were made.
func (s *Server) Comments() []Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Comment
	for _, c := range s.comments {
		out = append(out, *c)
	}
	return out
}

// AddComment puts a comment there, and gives its ID.
func (s *Server) AddComment(c Comment) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.ID = s.nextID()
	s.comments = append(s.comments, &c)
	return c.ID
}

// SetFiles says what files the pull request changes.
func (s *Server) SetFiles(files ...File) { s.locked(func() { s.files = files }) }

// SARIFs are the uploads, in order.
func (s *Server) SARIFs() []SARIF {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sarifs)
}

func (s *Server) listFiles(r *http.Request, pull int) answer {
	if !s.pulls[pull] {
		return message(http.StatusNotFound, "Not Found")
	}
	part, header := page(s, r, s.files[:min(len(s.files), 3000)])
	list := []any{}
	for _, f := range part {
		status := f.Status
		if status == "" {
			status = "modified"
		}
		list = append(list, map[string]any{
			"sha": fmt.Sprintf("%040d", 1), "filename": f.Path, "status": status, "additions": 1, "deletions": 0, "changes": 1,
			"blob_url": s.URL + "b", "raw_url": s.URL + "r", "contents_url": s.URL + "c", "patch": "@@ -1 +1,2 @@",
		})
	}
	return answer{http.StatusOK, list, header}
}

func (s *Server) commentBody(c *Comment) map[string]any {
	return map[string]any{
		"id": c.ID, "node_id": "IC_1", "url": s.URL + "comment", "body": c.Body, "user": s.userBody(c.Author),
		"html_url":  fmt.Sprintf("https://github.com/%s/%s/pull/%d#issuecomment-%d", s.config.Owner, s.config.Repo, c.Pull, c.ID),
		"issue_url": s.URL + "issue", "created_at": moment, "updated_at": moment, "author_association": "NONE",
		"performed_via_github_app": nil,
	}
}

// commentsOf answers GET and POST of the comments of a pull request.
func (s *Server) commentsOf(r *http.Request, pull int, body []byte) answer {
	if !s.pulls[pull] {
		return message(http.StatusNotFound, "Not Found")
	}
	if r.Method == http.MethodPost {
		text, complaint := commentText(body)
		if complaint != "" {
			return message(http.StatusUnprocessableEntity, complaint)
		}
		c := &Comment{ID: s.nextID(), Pull: pull, Author: s.config.Login, Body: text}
		s.comments = append(s.comments, c)
		return answer{status: http.StatusCreated, body: s.commentBody(c)}
	}
	var list []any
	for _, c := range s.comments {
		if c.Pull == pull {
			list = append(list, s.commentBody(c))
		}
	}
	part, header := page(s, r, list)
	return answer{http.StatusOK, append([]any{}, part...), header}
}

// editComment answers PATCH and DELETE of a comment.
func (s *Server) editComment(r *http.Request, id int64, body []byte) answer {
	i := slices.IndexFunc(s.comments, func(c *Comment) bool { return c.ID == id })
	switch {
	case i < 0:
		return message(http.StatusNotFound, "Not Found")
	case s.comments[i].Author != s.config.Login:
		return message(http.StatusForbidden, "Resource not accessible by integration")
	case r.Method == http.MethodDelete:
		s.comments = slices.Delete(s.comments, i, i+1)
		return answer{status: http.StatusNoContent}
	}
	text, complaint := commentText(body)
	if complaint != "" {
		return message(http.StatusUnprocessableEntity, complaint)
	}
	s.comments[i].Body = text
	return answer{status: http.StatusOK, body: s.commentBody(s.comments[i])}
}

func commentText(body []byte) (text, complaint string) {
	var in struct{ Body string }
	switch err := json.Unmarshal(body, &in); {
	case err != nil:
		return "", err.Error()
	case in.Body == "":
		return "", "Body cannot be blank"
	case utf8.RuneCountInString(in.Body) > 65536:
		return "", "Body is too long (maximum is 65536 characters)"
	}
	return in.Body, ""
}

func (s *Server) uploadSARIF(body []byte) answer {
	if s.config.NoCodeScanning {
		return message(http.StatusForbidden, "Advanced Security must be enabled for this repository to use code scanning.")
	}
	var in struct {
		CommitSHA string `json:"commit_sha"`
		Ref       string `json:"ref"`
		SARIF     string `json:"sarif"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return message(http.StatusBadRequest, "Problems parsing JSON")
	}
	packed, err := base64.StdEncoding.DecodeString(in.SARIF)
	if err != nil {
		return message(http.StatusBadRequest, "the SARIF is not base64")
	}
	if len(packed) > 10<<20 {
		return message(http.StatusRequestEntityTooLarge, "Payload Too Large")
	}
	log, err := unpack(packed)
	if err != nil || !json.Valid(log) {
		return message(http.StatusBadRequest, "the SARIF is not JSON in gzip")
	}
	s.sarifs = append(s.sarifs, SARIF{in.CommitSHA, in.Ref, log})
	id := fmt.Sprintf("47177e22-5596-11eb-80a1-%012d", len(s.sarifs))
	return answer{status: http.StatusAccepted, body: map[string]any{"id": id, "url": s.URL + "sarifs/" + id}}
}

func unpack(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
