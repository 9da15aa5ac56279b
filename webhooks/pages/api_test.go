package pages_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"

	"github.com/preadmit/preadmit/webhooks/pages"
	"github.com/preadmit/preadmit/webhooks/queue"
)

func hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// apiSite is a site with a token for all repositories and one for octo/shop. Its requests and
// responses are checked against the API's description.
type apiSite struct {
	*site
	router routers.Router
}

func newAPISite(t *testing.T, change func(*pages.Config)) *apiSite {
	t.Helper()
	s := newSite(t, func(c *pages.Config) {
		c.Tokens = []pages.Token{{Name: "all", SHA256: hash("token-of-all")}, {Name: "shop", SHA256: hash("token-of-shop"), Repositories: []string{"Octo/shop"}}}
		if change != nil {
			change(c)
		}
	})
	text := s.get("/api/v1/openapi.json", 200).body
	doc, err := openapi3.NewLoader().LoadFromData([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatalf("the description is wrong: %v", err)
	}
	router, err := legacy.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	return &apiSite{s, router}
}

// call sends a request to the API with a token and checks the response against the description; if
// it succeeds, it checks the request too.
func (s *apiSite) call(method, path, token, body string, header ...string) answer {
	s.Helper()
	header = append(header, "Content-Type", "application/json")
	if token != "" {
		header = append(header, "Authorization", "Bearer "+token)
	}
	got := s.ask(method, path, body, header...)
	r, err := http.NewRequestWithContext(context.Background(), method, path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	route, params, err := s.router.FindRoute(r)
	if err != nil {
		s.Fatalf("%s %s is not described: %v", method, path, err)
	}
	input := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true}}
	if got.status < 300 {
		if err := openapi3filter.ValidateRequest(s.Context(), input); err != nil {
			s.Errorf("%s %s was taken, but is not as described: %v", method, path, err)
		}
	}
	err = openapi3filter.ValidateResponse(s.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: got.status, Header: got.header, Options: input.Options,
		Body: io.NopCloser(strings.NewReader(got.body)),
	})
	if err != nil {
		s.Errorf("%s %s: the answer %d is not as described: %v: %s", method, path, got.status, err, got.body)
	}
	return got
}

func TestAPIReturnsScans(t *testing.T) {
	t.Parallel()
	s := newAPISite(t, nil)
	s.put(scanOf(1), nil)
	s.put(scanOf(2), func(c *queue.Scan) {
		c.State, c.Stage, c.Done, c.Total, c.Conclusion = queue.Running, "render", 3, 12, ""
	})
	s.put(scanOf(3), func(c *queue.Scan) { c.Repository, c.Repo = 12, "infra" })

	got := s.call("GET", "/api/v1/scans/"+id(1), "token-of-shop", "")
	s.wants(got.body, `"state":"completed","conclusion":"failure"`, `"counts":{"denied":2,"warned":1,"indeterminate":0}`, `"pull":7`,
		`"page":"`+s.url+"/scans/"+id(1)+`"`, `"check":"https://github.com/octo/shop/runs/5"`, "!/report", "!progress")
	s.wants(s.call("GET", "/api/v1/scans/"+id(2), "token-of-shop", "").body, `"progress":{"stage":"render","done":3,"total":12}`)
	n := 100
	for _, kind := range []queue.Kind{queue.KindPull, queue.KindGroup, queue.KindPush} {
		for _, state := range []queue.State{queue.Queued, queue.Completed, queue.Failed, queue.Cancelled, queue.Superseded} {
			n++
			s.put(scanOf(n), func(c *queue.Scan) {
				if c.Kind, c.State, c.Ref, c.SupersededBy = kind, state, "refs/heads/main", id(1); kind != queue.KindPull {
					c.Pull, c.Title, c.Base, c.Judged, c.CheckURL, c.Started = 0, "", "", "", "", time.Time{}
				}
				c.CommentURL, c.Why, c.Conclusion = c.CheckURL, "\u202e<b>", []string{"success", "neutral", "action_required", "failure", "cancelled"}[n%5]
			})
			s.wants(s.call("GET", "/api/v1/scans/"+id(n), "token-of-shop", "").body, `"kind":"`+string(kind)+`"`, `"state":"`+string(state)+`"`, "!0001-")
		}
	}
	want := s.putReport(id(1), "change")
	s.wants(s.call("GET", "/api/v1/scans/"+id(1), "token-of-shop", "").body, `"report":"`+s.url+"/api/v1/scans/"+id(1)+`/report"`)
	if got := s.call("GET", "/api/v1/scans/"+id(1)+"/report", "token-of-shop", ""); got.status != 200 || !bytes.Contains(want, []byte(`"findings"`)) || !strings.Contains(got.body, `"findings"`) {
		t.Errorf("the report is %d %.200s", got.status, got.body)
	}

	refused := map[string]int{"token-of-shop": 404, "token-of-all": 200, "": 401, "nonsense": 401, "token-of-al": 401}
	for token, status := range refused {
		if got := s.call("GET", "/api/v1/scans/"+id(3), token, ""); got.status != status {
			t.Errorf("with the token %q: %d, want %d", token, got.status, status)
		}
	}
	for _, path := range []string{"/api/v1/scans/x", "/api/v1/scans/" + id(9), "/api/v1/scans/" + id(2) + "/report"} {
		if got := s.call("GET", path, "token-of-all", ""); got.status != 404 {
			t.Errorf("%s: %d", path, got.status)
		}
	}
	// An unknown path is a problem, too, although no operation describes it.
	if got := s.ask("GET", "/api/v2", ""); got.status != 404 || got.header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("the answer is %+v", got)
	}
}

func TestAPIRefuses(t *testing.T) {
	t.Parallel()
	s := newAPISite(t, nil)
	for body, want := range map[string]string{
		``:                                                           `"field":""`,
		`[]`:                                                         `"field":""`,
		`{"repository":"octo/shop"}`:                                 `"field":"pull"`,
		`{"pull":7}`:                                                 `"field":"repository"`,
		`{"repository":"octo","pull":7}`:                             `"field":"repository"`,
		`{"repository":"octo/..","pull":7}`:                          `"field":"repository"`,
		`{"repository":"octo/a/b","pull":7}`:                         `"field":"repository"`,
		`{"repository":7,"pull":7}`:                                  `"field":"repository"`,
		`{"repository":"octo/shop","pull":"7"}`:                      `"field":"pull"`,
		`{"repository":"octo/shop","pull":7.5}`:                      `"field":"pull"`,
		`{"repository":"octo/shop","pull":-1}`:                       `"field":"pull"`,
		`{"repository":"octo/shop","pull":1e400}`:                    `"field":"pull"`,
		`{"repository":"octo/shop","pull":7,"x":1}`:                  `"field":"x"`,
		`{"repository":"octo/shop","pull":7}{}`:                      `"field":""`,
		`{"repository":"octo/shop","pull":7,"pull":99999999999}`:     `"field":"pull"`,
		`{"repository":"` + strings.Repeat("a", 70000) + `"}`:        `"status":413`,
		`{"repository":"octo/shop?x=` + "\\u0000" + `y","pull":7}`:   `"field":"repository"`,
		`{"repository":"octo/shop/../../user/repos","pull":7}`:       `"field":"repository"`,
		strings.Repeat(`{"repository":`, 1000) + "1" + "}":           `"field":""`,
		`{"repository":"` + strings.Repeat("a/", 1) + `","pull":70}`: `"field":"repository"`,
	} {
		got := s.call("POST", "/api/v1/scans", "token-of-all", body)
		if got.status != 400 && got.status != 413 || got.header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%.100s: the answer is %d %v", body, got.status, got.header)
		}
		s.wants(got.body, want)
	}
	if got := s.ask("POST", "/api/v1/scans", "{}", "Authorization", "Bearer token-of-all", "Content-Type", "text/plain"); got.status != 415 {
		t.Errorf("text is answered with %d", got.status)
	}
	const good = `{"repository":"octo/shop","pull":7}`
	for _, test := range []struct {
		body, token, key string
		status           int
	}{
		{good, "", "", 401}, {good, "nonsense", "", 401},
		{`{"repository":"octo/infra","pull":7}`, "token-of-shop", "", 403},
		{good, "token-of-all", strings.Repeat("k", 256), 400},
		{good, "token-of-all", "", 503}, // no App
	} {
		if got := s.call("POST", "/api/v1/scans", test.token, test.body, "Idempotency-Key", test.key); got.status != test.status {
			t.Errorf("%+v: the answer is %d %s", test, got.status, got.body)
		}
	}
	if n := len(s.queue.Scans(queue.ScanFilter{})); n != 0 {
		t.Errorf("there are %d scans", n)
	}
	if fmt.Sprint(s.ask("DELETE", "/api/v1/scans", "").status) != "405" {
		t.Error("DELETE is not refused")
	}
}
