package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/rest"
)

// client calls the API of a server.
type client struct {
	url  string
	http *http.Client
}

func newClient(config *rest.Config) (*client, error) {
	made, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("make a client of the server: %w", err)
	}
	return &client{url: config.Host, http: made}, nil
}

// call is a request to the API.
type call struct {
	method, path string
	query        url.Values
	// body is sent as JSON, unless it is nil.
	body        any
	contentType string
	// user is impersonated; nil for the administrator.
	user user.Info
}

// answer is the server's response to a call.
type answer struct {
	Code     int
	Body     []byte
	Warnings []string
}

// ok reports whether the server accepted the request.
func (a *answer) ok() bool { return a.Code < http.StatusBadRequest }

// status returns the Status of a refusal.
func (a *answer) status() metav1.Status {
	var s metav1.Status
	if err := json.Unmarshal(a.Body, &s); err != nil || s.Kind != "Status" {
		return metav1.Status{Code: int32(a.Code), Message: string(a.Body)}
	}
	return s
}

// err returns a refusal as an error.
func (a *answer) err() error {
	if a.ok() {
		return nil
	}
	return fmt.Errorf("the server answers %d: %s", a.Code, a.status().Message)
}

// do calls the API. It returns an error for connection failures only: a refusal is an answer.
func (c *client) do(ctx context.Context, q call) (*answer, error) {
	req, err := c.request(ctx, q)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("call the server: %w", err)
	}
	defer resp.Body.Close()
	a := &answer{Code: resp.StatusCode}
	if a.Body, err = io.ReadAll(resp.Body); err != nil {
		return nil, fmt.Errorf("read the server's answer: %w", err)
	}
	warnings, _ := utilnet.ParseWarningHeaders(resp.Header.Values("Warning"))
	for _, w := range warnings {
		a.Warnings = append(a.Warnings, w.Text)
	}
	return a, nil
}

func (c *client) request(ctx context.Context, q call) (*http.Request, error) {
	var body io.Reader
	if q.body != nil {
		data, err := json.Marshal(q.body)
		if err != nil {
			return nil, fmt.Errorf("encode a request: %w", err)
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, q.method, c.url+q.path+"?"+q.query.Encode(), body)
	if err != nil {
		return nil, fmt.Errorf("form a request: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	if q.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if q.contentType != "" {
		req.Header.Set("Content-Type", q.contentType)
	}
	if q.user != nil {
		req.Header.Set("Impersonate-User", q.user.GetName())
		for _, group := range q.user.GetGroups() {
			req.Header.Add("Impersonate-Group", group)
		}
	}
	return req, nil
}

// get reads an object of the API.
func (c *client) get(ctx context.Context, path string, into any) error {
	a, err := c.do(ctx, call{method: http.MethodGet, path: path})
	if err != nil {
		return err
	}
	if err := a.err(); err != nil {
		return err
	}
	return json.Unmarshal(a.Body, into)
}
