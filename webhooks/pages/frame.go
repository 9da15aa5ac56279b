package pages

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/html"
)

//go:embed templates/*.tmpl
var templateFiles embed.FS

//go:embed static/pages.css
var ownStyle string

//go:embed static/live.js
var liveScript string

// frame is the data of the layout that all pages share.
type frame struct {
	// Title is the title of the window, Heading that of the page.
	Title, Heading string
	// Class is the colour of the heading: deny, warn, audit, clean or none.
	Class string
	// Under are lines below the heading.
	Under []template.HTML
	// Contents is a nav element before the body.
	Contents template.HTML
	// At is the path of the page, if it is in the site's navigation.
	At string
	// Live is set while the page updates itself.
	Live bool
	// Many is set for large bodies, of which a browser should lay out only the visible part.
	Many bool

	Body             template.HTML
	Style, Script    string
	Viewer           *viewer
	CanLogout, Queue bool
	Version          string
}

func parseTemplates() (*template.Template, error) {
	return template.New("").Funcs(template.FuncMap{
		"when": when, "short": short, "took": took, "counts": html.Unbroken,
	}).ParseFS(templateFiles, "templates/*.tmpl")
}

// write renders a page from a template and its view, and sends it. Nothing is sent if rendering
// fails.
func (p *Pages) write(w http.ResponseWriter, status int, v *viewer, f frame, name string, view any) {
	body, err := p.part(name, view)
	if err == nil {
		f.Body, f.Style, f.Script, f.Viewer, f.Version = body, p.style, p.script, v, p.config.Version
		f.CanLogout = v != nil && p.config.Access == AccessGitHub
		f.Queue = v != nil && v.Operator
		body, err = p.part("frame", f)
	}
	if err != nil {
		p.config.Log.Error("a template failed", "template", name, "error", err)
		http.Error(w, "The page could not be rendered. The reason is in the log of the service.", http.StatusInternalServerError)
		return
	}
	p.send(w, status, "text/html; charset=utf-8", []byte(body))
}

// send writes a response; errors are only logged, since the viewer may have disconnected.
func (p *Pages) send(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		p.config.Log.Debug("a viewer went away", "error", err)
	}
}

func (p *Pages) part(name string, view any) (template.HTML, error) {
	var b bytes.Buffer
	if err := p.templates.ExecuteTemplate(&b, name, view); err != nil {
		return "", err
	}
	return template.HTML(b.String()), nil // escaped by html/template
}

// asset is a static file of the pages. Its name contains its hash, so it never changes.
type asset struct{ contentType, text string }

// Stylesheet returns the style sheet of all pages.
func Stylesheet() string { return html.Stylesheet() + ownStyle }

// assets returns the files below /static/, and the names of the style sheet and script.
func assets() (files map[string]asset, style, script string) {
	files = map[string]asset{}
	add := func(name, ending, contentType, text string) string {
		sum := sha256.Sum256([]byte(text))
		name += "." + hex.EncodeToString(sum[:6]) + ending
		files[name] = asset{contentType, text}
		return name
	}
	style = add("pages", ".css", "text/css; charset=utf-8", Stylesheet())
	script = add("live", ".js", "text/javascript; charset=utf-8", liveScript)
	return files, style, script
}

func (p *Pages) serveStatic(w http.ResponseWriter, r *http.Request) {
	file, ok := p.static[chi.URLParam(r, "name")]
	if !ok {
		p.nothing(http.StatusNotFound)(w, r)
		return
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	p.send(w, http.StatusOK, file.contentType, []byte(file.text))
}

// when returns a time element in UTC.
func when(t time.Time) template.HTML {
	if t.IsZero() {
		return ""
	}
	t = t.UTC()
	return template.HTML(`<time datetime="` + t.Format(time.RFC3339) + `">` + t.Format("2006-01-02 15:04:05") + ` UTC</time>`)
}

// short returns the beginning of a commit's name.
func short(commit string) string { return escape.Line(commit[:min(len(commit), 12)]) }

// took returns a duration as text: 1h 2m, 3m 4s, 5.6s.
func took(d time.Duration) string {
	if d < 0 {
		return "0s"
	}
	if d < 10*time.Second {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	if d < time.Minute {
		return fmt.Sprintf("%.0fs", d.Seconds())
	}
	text := d.Round(time.Second).String()
	if d >= time.Hour {
		text = strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
	return strings.NewReplacer("h", "h ", "m", "m ").Replace(strings.TrimSuffix(text, " "))
}
