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
)

// SARIF is an upload, decompressed.
type SARIF struct {
	// Repo is "OWNER/NAME".
	Repo           string
	CommitSHA, Ref string
	Log            []byte
}

// SARIFs returns the uploads, in order.
func (s *Server) SARIFs() []SARIF {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sarifs)
}

func (s *Server) uploadSARIF(q *query) answer {
	if q.repo.NoCodeScanning || q.repo == s.first && s.config.NoCodeScanning {
		return message(http.StatusForbidden, "Advanced Security must be enabled for this repository to use code scanning.")
	}
	var in struct {
		CommitSHA string `json:"commit_sha"`
		Ref       string `json:"ref"`
		SARIF     string `json:"sarif"`
	}
	if err := json.Unmarshal(q.body, &in); err != nil {
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
	if q.repo.dir != "" && s.find(q.repo, in.CommitSHA) == "" {
		return message(http.StatusNotFound, "commit not found")
	}
	s.sarifs = append(s.sarifs, SARIF{q.repo.full(), in.CommitSHA, in.Ref, log})
	id := sarifID(len(s.sarifs))
	return answer{status: http.StatusAccepted, body: map[string]any{"id": id, "url": s.URL + "sarifs/" + id}}
}

func sarifID(n int) string { return fmt.Sprintf("47177e22-5596-11eb-80a1-%012d", n) }

// getSARIF returns the status of an upload: it is processed at once.
func (s *Server) getSARIF(q *query) answer {
	for i, upload := range s.sarifs {
		if upload.Repo == q.repo.full() && sarifID(i+1) == q.params["sarif_id"] {
			return ok(map[string]any{"processing_status": "complete"})
		}
	}
	return notFound()
}

func unpack(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
