package githubtest

import (
	"net/http"
	"strings"
	"time"
)

// Rule replaces the server's responses to some requests.
type Rule struct {
	// Method and Path select requests: any method when empty, and paths with this suffix.
	Method, Path string
	// Skip is the number of matching requests that are not affected, before the others.
	Skip int
	// Times is the number of affected requests, 1 when 0.
	Times int
	// Status, Header and Message are the response.
	Status  int
	Header  http.Header
	Message string
	// After executes the request before it responds with Status, like a gateway that loses
	// the response.
	After bool
	// Delay is the time before the response. With Status 0 the server's own response is
	// delayed.
	Delay time.Duration
}

type rule struct {
	Rule
	skipped, used int
}

// Intercept adds a rule; earlier rules take precedence.
func (s *Server) Intercept(r Rule) {
	s.locked(func() { s.rules = append(s.rules, &rule{Rule: r}) })
}

// match returns the first rule for a request that is not used up.
func (s *Server) match(r *http.Request) *rule {
	for _, rule := range s.rules {
		if rule.Method != "" && rule.Method != r.Method || !strings.HasSuffix(r.URL.Path, rule.Path) {
			continue
		}
		if rule.skipped < rule.Skip {
			rule.skipped++
			continue
		}
		if rule.used < max(1, rule.Times) {
			rule.used++
			return rule
		}
	}
	return nil
}

func (r *rule) answer() answer {
	a := message(r.Status, r.Message)
	a.header = r.Header
	return a
}
