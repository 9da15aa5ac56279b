package live

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/preadmit/preadmit/scanner/suite"
)

// adminToken authenticates system:admin. A fixed token is enough, as the server listens on
// loopback only and ends with the run.
const adminToken = "admin"

// Server is a running kube-apiserver.
type Server struct {
	url, version, certificates string
	process                    *process
	audit                      *auditLog
	client                     *http.Client

	resources map[string][]resource // by API group and version
}

// Call is a request to the API.
type Call struct {
	Method string
	// Path and Query are the path and the query of the URL.
	Path  string
	Query url.Values
	// Body is sent as JSON, unless it is nil.
	Body any
	// ContentType of the body; application/json when empty.
	ContentType string
	// User is impersonated; nil for system:admin itself.
	User *suite.User
}

// Answer is the server's response.
type Answer struct {
	// Code is the HTTP status.
	Code int
	Body []byte
	// Warnings are the texts of the Warning headers, in order.
	Warnings []string

	auditID string
}

// OK reports whether the server accepted the request.
func (a *Answer) OK() bool { return a.Code < http.StatusBadRequest }

// Status returns the Status of a refusal.
func (a *Answer) Status() metav1.Status {
	var s metav1.Status
	if err := json.Unmarshal(a.Body, &s); err != nil || s.Kind != "Status" {
		return metav1.Status{Code: int32(a.Code), Message: string(a.Body)}
	}
	return s
}

// Err returns the refusal as an error, nil if there is none.
func (a *Answer) Err() error {
	if a.OK() {
		return nil
	}
	return fmt.Errorf("the server answers %d: %s", a.Code, a.Status().Message)
}

// Object returns the object of an answer that is OK.
func (a *Answer) Object() (map[string]any, error) {
	var o map[string]any
	if err := json.Unmarshal(a.Body, &o); err != nil {
		return nil, fmt.Errorf("decode the server's answer: %w", err)
	}
	return o, nil
}

// Do calls the API. It returns an error only if there is no response; a refusal is an Answer.
func (s *Server) Do(ctx context.Context, call Call) (*Answer, error) {
	req, err := s.request(ctx, call)
	if err != nil {
		return nil, err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("call the API server: %w", err)
	}
	a, err := answerOf(resp)
	if err != nil {
		return nil, err
	}
	a.auditID = req.Header.Get("Audit-ID")
	return a, nil
}

// answerOf reads a response.
func answerOf(resp *http.Response) (*Answer, error) {
	defer resp.Body.Close()
	a := &Answer{Code: resp.StatusCode}
	var err error
	if a.Body, err = io.ReadAll(resp.Body); err != nil {
		return nil, fmt.Errorf("read the answer of the API server: %w", err)
	}
	warnings, errs := utilnet.ParseWarningHeaders(resp.Header.Values("Warning"))
	for _, w := range warnings {
		a.Warnings = append(a.Warnings, w.Text)
	}
	return a, errors.Join(errs...)
}

func (s *Server) request(ctx context.Context, call Call) (*http.Request, error) {
	var body io.Reader
	if call.Body != nil {
		data, err := json.Marshal(call.Body)
		if err != nil {
			return nil, fmt.Errorf("encode a request: %w", err)
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, call.Method, s.url+call.Path+"?"+call.Query.Encode(), body)
	if err != nil {
		return nil, fmt.Errorf("form a request: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+adminToken)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Audit-ID", uuid.NewString())
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if call.ContentType != "" {
		req.Header.Set("Content-Type", call.ContentType)
	}
	if u := call.User; u != nil {
		req.Header.Set("Impersonate-User", u.Username)
		for _, g := range u.Groups {
			req.Header.Add("Impersonate-Group", g)
		}
	}
	return req, nil
}

// AuditAnnotations returns the annotations of the audit event of an answer.
func (s *Server) AuditAnnotations(ctx context.Context, a *Answer) (map[string]string, error) {
	annotations, err := s.audit.annotations(ctx, a.auditID)
	if err != nil {
		return nil, fmt.Errorf("wait for the audit event: %w", err)
	}
	return annotations, nil
}

// get reads the JSON at a path.
func (s *Server) get(ctx context.Context, path string, into any) error {
	a, err := s.Do(ctx, Call{Method: http.MethodGet, Path: path})
	if err != nil {
		return err
	}
	return decode(a, into)
}

// decode decodes the JSON of an answer.
func decode(a *Answer, into any) error {
	if err := a.Err(); err != nil {
		return err
	}
	return json.Unmarshal(a.Body, into)
}

// ready returns nil if the server is ready. It creates the client once the server has
// written its certificate.
func (s *Server) ready(ctx context.Context) error {
	if s.client == nil {
		certificate, err := os.ReadFile(filepath.Join(s.certificates, "apiserver.crt"))
		if err != nil {
			return err
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(certificate) {
			return errors.New("the server's certificate is not written yet")
		}
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
		s.client = &http.Client{Transport: panicTransport{transport}}
	}
	a, err := s.Do(ctx, Call{Method: http.MethodGet, Path: "/readyz"})
	if err != nil {
		return err
	}
	return a.Err()
}

func (s *Server) stop() {
	if s == nil {
		return
	}
	if s.client != nil {
		s.client.CloseIdleConnections()
	}
	s.process.stop()
}

// Proxy returns a handler that forwards calls as system:admin. It calls report for each call that
// writes, with the request body and the server's answer.
func (s *Server) Proxy(report func(r *http.Request, body []byte, a *Answer)) (http.Handler, error) {
	target, err := url.Parse(s.url)
	if err != nil {
		return nil, fmt.Errorf("address of the API server: %w", err)
	}
	type bodyKey struct{}
	proxy := &httputil.ReverseProxy{
		Transport: s.client.Transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Set("Authorization", "Bearer "+adminToken)
			r.Out.Header.Del("Accept-Encoding") // answerOf does not decompress
		},
		ModifyResponse: func(r *http.Response) error {
			sent, ok := r.Request.Context().Value(bodyKey{}).([]byte)
			if !ok {
				return nil
			}
			a, err := answerOf(r)
			if err != nil {
				return err
			}
			r.Body = io.NopCloser(bytes.NewReader(a.Body))
			report(r.Request, sent, a)
			return nil
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			r = r.WithContext(context.WithValue(r.Context(), bodyKey{}, body))
		}
		proxy.ServeHTTP(w, r)
	}), nil
}
