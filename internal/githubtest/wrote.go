package githubtest

import (
	"fmt"
	"strings"
)

// Wrote are the requests that ask for a change, in order, each as method, path inside the
// repository, and status: "POST check-runs 201".
func (s *Server) Wrote() []string {
	var out []string
	for _, r := range s.Requests() {
		if r.Writes() {
			path := strings.TrimPrefix(r.Path, "/repos/"+s.config.Owner+"/"+s.config.Repo+"/")
			out = append(out, fmt.Sprintf("%s %s %d", r.Method, path, r.Status))
		}
	}
	return out
}
