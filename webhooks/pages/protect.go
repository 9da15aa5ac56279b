package pages

import (
	"net/http"
)

// policy lets a page load its own style sheet and script, and send requests and forms to its own
// service, and nothing else: no inline script, no embedding in a frame.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// protect sets the headers of each page, and rejects cross-site requests.
func (p *Pages) protect(next http.Handler) http.Handler {
	guard := http.NewCrossOriginProtection()
	_ = guard.AddTrustedOrigin(p.public.Scheme + "://" + p.public.Host) // checkConfig parsed it
	guard.SetDenyHandler(p.open(func(http.ResponseWriter, *http.Request) error {
		return &problem{Status: http.StatusForbidden, Title: "This came from another site",
			Text: "A form is taken only from a page of this service.", Hint: "Open the page here and press the button again."}
	}))
	guarded := guard.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		privateHeaders(w.Header())
		guarded.ServeHTTP(w, r)
	})
}

func privateHeaders(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY") // for browsers that do not know frame-ancestors
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Cookie")
}
