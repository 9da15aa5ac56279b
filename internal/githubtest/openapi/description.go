package openapi

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
)

// text is the part of GitHub's OpenAPI description that extract_test.go of package githubtest extracted
// from @octokit/openapi; github.LICENSE is its license.
//
//go:embed github.json
var text []byte

// Description checks requests and responses against the description.
type Description struct {
	doc    *openapi3.T
	router routers.Router
}

// Load returns the description. It is parsed once for all servers and not modified afterwards.
var Load = sync.OnceValues(func() (*Description, error) {
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, fmt.Errorf("read the OpenAPI description: %w", err)
	}
	goneForks(doc)
	router, err := legacy.NewRouter(doc)
	if err != nil {
		return nil, fmt.Errorf("read the OpenAPI description: %w", err)
	}
	return &Description{doc, router}, nil
})

// goneForks corrects the description: the repository of a pull request's head is null when
// it was deleted, according to GitHub's own schemas of webhooks.
func goneForks(doc *openapi3.T) {
	for _, name := range []string{"pull-request", "pull-request-simple"} {
		head := doc.Components.Schemas[name].Value.Properties["head"].Value
		nullable := *head.Properties["repo"].Value
		nullable.Nullable = true
		head.Properties["repo"] = openapi3.NewSchemaRef("", &nullable)
	}
}

// Request checks a request, whose body was read already, and returns what Complete, Response and
// Params need.
func (d *Description) Request(r *http.Request, body []byte) (*openapi3filter.RequestValidationInput, error) {
	route, params, err := d.router.FindRoute(oneSegment(r))
	if err != nil {
		return nil, fmt.Errorf("no operation that is described: %w", err)
	}
	if len(body) > 0 && route.Operation.RequestBody == nil {
		return nil, fmt.Errorf("a body of %d bytes where none is described", len(body))
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	options := &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}
	options.WithCustomSchemaErrorFunc(func(err *openapi3.SchemaError) string {
		return strings.Join(err.JSONPointer(), ".") + ": " + err.Reason
	})
	input := &openapi3filter.RequestValidationInput{
		Request: r, PathParams: params, Route: route, QueryParams: r.URL.Query(), Options: options,
	}
	for name := range input.QueryParams {
		if route.Operation.Parameters.GetByInAndName("query", name) == nil {
			return nil, fmt.Errorf("the query parameter %s is not described", name)
		}
	}
	return input, openapi3filter.ValidateRequest(context.Background(), input)
}

// Response checks the response to a request. Statuses that the description does not have pass,
// since GitHub describes few errors.
func (d *Description) Response(input *openapi3filter.RequestValidationInput, status int, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	if body == nil {
		text = nil
	}
	return openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: status,
		Header:  http.Header{"Content-Type": {"application/json"}},
		Body:    io.NopCloser(bytes.NewReader(text)),
		Options: input.Options,
	})
}

// slash replaces the slashes of a ref in a path: GitHub accepts these unescaped, which OpenAPI
// cannot describe.
const slash = "\u2215"

// refPath matches a path with a ref in the middle or at its end.
var refPath = regexp.MustCompile(`^(/repos/[^/]+/[^/]+/(?:commits|branches|compare|git/ref)/)(.+?)(/check-runs|/check-suites|/pulls)?$`)

// oneSegment returns the request with the slashes of its ref replaced.
func oneSegment(r *http.Request) *http.Request {
	part := refPath.FindStringSubmatch(r.URL.Path)
	if part == nil {
		return r
	}
	copied := r.Clone(r.Context())
	copied.URL.Path, copied.URL.RawPath = part[1]+strings.ReplaceAll(part[2], "/", slash)+part[3], ""
	return copied
}

// Params returns the parameters in the path of a request.
func Params(input *openapi3filter.RequestValidationInput) map[string]string {
	out := map[string]string{}
	for name, value := range input.PathParams {
		out[name] = strings.ReplaceAll(value, slash, "/")
	}
	return out
}
