package githubtest

import (
	"net/http"
	"strings"
	"time"
)

// Rule answers requests in place of the server.
type Rule struct {
	// Method and Path select requests: any method when empty, and paths that end so.
	Method, Path string
	// Skip lets as many matching requests through first.
	Skip int
	// Times is how many requests it answers, 1 when 0.
	Times int
	// Status, Header and Message are the answer.
	Status  int
	Header  http.Header
	Message string
	// After has the server do what was asked before it answers with Status, as a
	// gateway does that loses the answer.
	After bool
	// Delay is waited before the answer. With Status 0 the server's own answer comes
	// late.
	Delay time.Duration
}

type rule struct {
	Rule
	skipped, used int
}

// Intercept adds a rule; earlier ones go first.
func (s *Server) Intercept(r Rule) {
	s.locked(func() { s.rules = append(s.rules, &rule{Rule: r}) })
}

// match is the first rule for a request that is not used up.
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
