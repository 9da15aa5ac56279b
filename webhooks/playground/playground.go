package playground

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/html"
)

//go:embed templates/*.tmpl
var templateFiles embed.FS

//go:embed static/playground.css
var ownStyle string

//go:embed static/playground.js
var ownScript string

// Path is the path of the page.
const Path = "/playground"

// MaxBody is the maximum size of a request, in bytes.
const MaxBody = 512 << 10

// Judge returns the API server's answer to a request.
type Judge interface {
	Answer(ctx context.Context, r *report.PlaygroundRequest) (*report.PlaygroundAnswer, error)
}

// Config is the configuration of the page.
type Config struct {
	Judge Judge
	// Home is the target of the link on the site's name; empty for the page itself.
	Home string
	// Style is the style sheet of the site's other pages; empty for that of reports.
	Style   string
	Version string
	// Versions are the minor versions of Kubernetes to choose from, the latest first.
	Versions []string
	// Client identifies the client of a request, to limit its requests; nil uses the address.
	Client func(*http.Request) string
	Log    *slog.Logger
}

// Playground serves the page.
type Playground struct {
	config        Config
	templates     *template.Template
	rates         *rates
	style, script asset
}

// asset is a static file of the page. Its name contains its hash.
type asset struct{ name, contentType, text string }

func newAsset(name, ending, contentType, text string) asset {
	sum := sha256.Sum256([]byte(text))
	return asset{name + "." + hex.EncodeToString(sum[:6]) + ending, contentType, text}
}

// New returns a Playground.
func New(c Config) (*Playground, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Client == nil {
		c.Client = func(r *http.Request) string {
			host, _, err := net.SplitHostPort(r.RemoteAddr)
			if err != nil {
				return r.RemoteAddr
			}
			return host
		}
	}
	if c.Style == "" {
		c.Style = html.Stylesheet()
	}
	if c.Home == "" {
		c.Home = Path
	}
	p := &Playground{config: c, rates: newRates(time.Now)}
	p.style = newAsset("playground", ".css", "text/css; charset=utf-8", c.Style+ownStyle)
	p.script = newAsset("playground", ".js", "text/javascript; charset=utf-8", ownScript)
	var err error
	if p.templates, err = template.New("").Funcs(functions).ParseFS(templateFiles, "templates/*.tmpl"); err != nil {
		return nil, fmt.Errorf("parse the templates of the playground: %w", err)
	}
	return p, nil
}

// policy lets the page load its own style sheet and script, and send requests to its own service.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Handler returns the handler of the page at Path, and of the paths below it.
func (p *Playground) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Path, p.show)
	mux.HandleFunc("POST "+Path, p.submit)
	mux.HandleFunc("POST "+Path+"/answer", p.answer)
	mux.HandleFunc("POST "+Path+"/suite", p.suite)
	mux.HandleFunc("GET "+Path+"/static/{name}", p.static)
	guarded := http.NewCrossOriginProtection().Handler(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		r.Body = http.MaxBytesReader(w, r.Body, MaxBody)
		guarded.ServeHTTP(w, r)
	})
}

// view is the data of the page's template.
type view struct {
	Request  report.PlaygroundRequest
	Examples []Example
	Example  *Example
	Result   *result
	Style    string
	Script   string
	Home     string
	Version  string
	// Operations and Versions are the choices.
	Operations, Versions []string
}

// result is the part of the page with the answer to a request.
type result struct {
	Problems, Notes []report.PlaygroundProblem
	Explain         *report.ExplainReport
	// Class is its colour: deny, warn, clean or none.
	Class string
}

func resultOf(a *report.PlaygroundAnswer) *result {
	r := &result{Problems: a.Problems, Notes: a.Notes, Explain: a.Explain, Class: "clean"}
	switch {
	case len(a.Problems) > 0 || a.Explain == nil:
		r.Class = "none"
	case !a.Explain.Answer.Allowed:
		r.Class = "deny"
	case len(a.Explain.Answer.Warnings)+len(a.Explain.Answer.Indeterminate)+len(a.Explain.Refused)+len(a.Notes) > 0:
		r.Class = "warn"
	}
	return r
}

func problem(text string) *result {
	return &result{Problems: []report.PlaygroundProblem{{Message: text}}, Class: "none"}
}

// show shows the page with an example.
func (p *Playground) show(w http.ResponseWriter, r *http.Request) {
	all := Examples()
	chosen := &all[0]
	for i := range all {
		if all[i].Name == r.URL.Query().Get("example") {
			chosen = &all[i]
		}
	}
	p.page(w, http.StatusOK, &view{Request: chosen.Request, Example: chosen})
}

// submit handles the form of a browser without a script.
func (p *Playground) submit(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		status, text := bodyError(err)
		p.page(w, status, &view{Result: problem(text)})
		return
	}
	v := &view{Request: requestOf(r)}
	if r.PostForm.Has("suite") {
		p.download(w, r, &v.Request)
		return
	}
	answer, status, text := p.ask(r, &v.Request)
	if answer == nil {
		v.Result = problem(text)
	} else {
		v.Result = resultOf(answer)
	}
	p.page(w, status, v)
}

// requestOf returns the request in a form.
func requestOf(r *http.Request) report.PlaygroundRequest {
	of := func(name string) string { return strings.ReplaceAll(r.PostForm.Get(name), "\r\n", "\n") }
	return report.PlaygroundRequest{
		Policies: of("policies"), Object: of("object"), OldObject: of("oldObject"), Params: of("params"), Namespace: of("namespace"),
		RBAC: of("rbac"), Version: of("version"), Operation: of("operation"), Subresource: of("subresource"), User: of("user"), Groups: of("groups"),
	}
}

func bodyError(err error) (status int, text string) {
	if large := new(http.MaxBytesError); errors.As(err, &large) {
		return http.StatusRequestEntityTooLarge, fmt.Sprintf("All fields together may have %d KiB.", MaxBody>>10)
	}
	return http.StatusBadRequest, "The request cannot be read."
}

// ask returns the judge's answer, unless the client has sent too many requests.
func (p *Playground) ask(r *http.Request, q *report.PlaygroundRequest) (a *report.PlaygroundAnswer, status int, text string) {
	if !slices.Contains(operations, q.Operation) && q.Operation != "" {
		return nil, http.StatusBadRequest, "The operation is none of " + strings.Join(operations, ", ") + "."
	}
	switch i := slices.Index(p.config.Versions, q.Version); {
	case i < 0 && q.Version != "":
		return nil, http.StatusBadRequest, "The version of Kubernetes is none of " + strings.Join(p.config.Versions, ", ") + "."
	case i == 0:
		asked := *q
		q, asked.Version = &asked, ""
	}
	client := p.config.Client(r)
	if !p.rates.allow(client) {
		return nil, http.StatusTooManyRequests, "You ask too often. Wait a moment and try again."
	}
	done, ok := p.rates.begin(client)
	if !ok {
		return nil, http.StatusTooManyRequests, "Your previous request is still being judged. Wait a moment and try again."
	}
	defer done()
	a, err := p.config.Judge.Answer(r.Context(), q)
	switch {
	case err == nil:
		return a, http.StatusOK, ""
	case errors.Is(err, ErrBusy):
		return nil, http.StatusServiceUnavailable, "Many requests are being judged. Try again in a moment."
	case errors.Is(err, ErrEnded):
		return nil, http.StatusUnprocessableEntity, "Judging this took too long or too much memory: make the expressions or the object smaller."
	}
	if r.Context().Err() == nil {
		p.config.Log.Error("the playground cannot judge", "error", err)
	}
	return nil, http.StatusInternalServerError, "This cannot be judged now. The reason is in the log of the service."
}

var operations = []string{"CREATE", "UPDATE", "DELETE"}

// answer handles requests of the script: it sends a part of the page.
func (p *Playground) answer(w http.ResponseWriter, r *http.Request) {
	q := &report.PlaygroundRequest{}
	if err := json.NewDecoder(r.Body).Decode(q); err != nil {
		status, text := bodyError(err)
		p.fragment(w, status, problem(text), nil)
		return
	}
	q.Suite = false
	answer, status, text := p.ask(r, q)
	if answer == nil {
		p.fragment(w, status, problem(text), nil)
		return
	}
	p.fragment(w, status, resultOf(answer), answer)
}

// fragment sends a result as HTML, with the answer as JSON.
func (p *Playground) fragment(w http.ResponseWriter, status int, shown *result, answer *report.PlaygroundAnswer) {
	var page bytes.Buffer
	if err := p.templates.ExecuteTemplate(&page, "result", shown); err != nil {
		p.fail(w, err)
		return
	}
	data, err := json.Marshal(struct {
		HTML   string                   `json:"html"`
		Answer *report.PlaygroundAnswer `json:"answer,omitempty"`
	}{page.String(), answer})
	if err != nil {
		p.fail(w, err)
		return
	}
	p.send(w, status, "application/json", data)
}

// suite sends the test suite of a request.
func (p *Playground) suite(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		status, text := bodyError(err)
		p.page(w, status, &view{Result: problem(text)})
		return
	}
	q := requestOf(r)
	p.download(w, r, &q)
}

func (p *Playground) download(w http.ResponseWriter, r *http.Request, q *report.PlaygroundRequest) {
	asked := *q
	asked.Suite = true
	answer, status, text := p.ask(r, &asked)
	switch {
	case answer == nil:
		p.page(w, status, &view{Request: *q, Result: problem(text)})
		return
	case len(answer.Files) == 0:
		p.page(w, http.StatusUnprocessableEntity, &view{Request: *q, Result: resultOf(answer)})
		return
	}
	data, err := archive(answer.Files)
	if err != nil {
		p.fail(w, err)
		return
	}
	w.Header().Set("Content-Disposition", `attachment; filename="playground.zip"`)
	p.send(w, http.StatusOK, "application/zip", data)
}

func (p *Playground) page(w http.ResponseWriter, status int, v *view) {
	v.Examples, v.Style, v.Script, v.Home, v.Version, v.Operations, v.Versions = Examples(), p.style.name, p.script.name, p.config.Home, p.config.Version, operations, p.config.Versions
	if v.Request.Operation == "" {
		v.Request.Operation = operations[0]
	}
	var page bytes.Buffer
	if err := p.templates.ExecuteTemplate(&page, "page", v); err != nil {
		p.fail(w, err)
		return
	}
	p.send(w, status, "text/html; charset=utf-8", page.Bytes())
}

func (p *Playground) fail(w http.ResponseWriter, err error) {
	p.config.Log.Error("the playground cannot be shown", "error", err)
	http.Error(w, "The page could not be rendered. The reason is in the log of the service.", http.StatusInternalServerError)
}

func (p *Playground) send(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		p.config.Log.Debug("a viewer went away", "error", err)
	}
}

func (p *Playground) static(w http.ResponseWriter, r *http.Request) {
	for _, a := range []asset{p.style, p.script} {
		if a.name == r.PathValue("name") {
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
			p.send(w, http.StatusOK, a.contentType, []byte(a.text))
			return
		}
	}
	http.NotFound(w, r)
}
