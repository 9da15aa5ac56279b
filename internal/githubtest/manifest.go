package githubtest

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// appManifest is the manifest in the form that creates an App.
type appManifest struct {
	Name string `json:"name"`
	URL  string `json:"url"`
	Hook *struct {
		URL string `json:"url"`
	} `json:"hook_attributes"`
	RedirectURL string            `json:"redirect_url"`
	Callbacks   []string          `json:"callback_urls"`
	SetupURL    string            `json:"setup_url"`
	Public      bool              `json:"public"`
	Permissions map[string]string `json:"default_permissions"`
	Events      []string          `json:"default_events"`
}

// newApp creates an App from a manifest without confirmation, and redirects with a code.
func (s *Server) newApp(w http.ResponseWriter, r *http.Request) {
	var m appManifest
	text := r.PostForm.Get("manifest")
	if err := json.Unmarshal([]byte(text), &m); r.Method != http.MethodPost || err != nil {
		http.Error(w, "the form lacks a manifest of JSON", http.StatusUnprocessableEntity)
		return
	}
	if complaint := m.complaint(); complaint != "" {
		s.locked(func() { s.problems = append(s.problems, "manifest: "+complaint) })
		http.Error(w, complaint, http.StatusUnprocessableEntity)
		return
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o := AppOptions{Name: m.Name, Permissions: m.Permissions, Events: m.Events, Callbacks: m.Callbacks}
	if m.Hook != nil {
		o.WebhookURL = m.Hook.URL
	}
	app := s.addApp(o, key)
	app.opts.WebhookSecret = fmt.Sprintf("%040x", app.ID*104729)
	name := s.keep(&code{app: app, manifest: true, expires: s.config.Now().Add(time.Hour)})
	http.Redirect(w, r, withQuery(m.RedirectURL, url.Values{"code": {name}, "state": {r.Form.Get("state")}}), http.StatusFound)
}

// needed returns the permissions that GitHub requires for events.
func needed() map[string][]string {
	return map[string][]string{
		"check_run": {"checks"}, "check_suite": {"checks"}, "pull_request": {"pull_requests"}, "push": {"contents"},
		"issue_comment": {"issues"}, "merge_group": {"merge_queues"},
	}
}

// complaint returns why GitHub would reject the manifest, or "".
func (m *appManifest) complaint() string {
	if m.Name == "" || len(m.Name) > 34 || m.URL == "" || m.RedirectURL == "" {
		return "a name of at most 34 characters, url and redirect_url are required"
	}
	if m.Hook != nil && m.Hook.URL == "" {
		return "hook_attributes needs a url"
	}
	for _, event := range m.Events {
		wants, known := needed()[event]
		if !known {
			return "Default events unsupported: " + event
		}
		for _, name := range wants {
			if m.Permissions[name] == "" {
				return fmt.Sprintf("Default events unsupported: %s and permissions %s", event, name)
			}
		}
	}
	return ""
}

// convertManifest returns the credentials of a new App for its code, once.
func (s *Server) convertManifest(q *query) answer {
	c := s.codes[q.params["code"]]
	if c == nil || !c.manifest || s.config.Now().After(c.expires) {
		return notFound()
	}
	delete(s.codes, q.params["code"])
	body := s.appBody(c.app.Slug)
	body["client_id"], body["client_secret"] = c.app.ClientID, c.app.ClientSecret
	body["webhook_secret"], body["pem"] = c.app.opts.WebhookSecret, string(c.app.PrivateKey)
	return answer{status: http.StatusCreated, body: body}
}
