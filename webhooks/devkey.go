package webhooks

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// devKey gives the user who started a service with --dev access to its pages: it is in the URL that
// the service logs, and then in a cookie. That a request comes from this machine is no proof:
// requests through a tunnel do as well, with any Host.
type devKey string

// keyCookie is the cookie with the key.
const keyCookie = "preadmit_dev"

func newDevKey() devKey { return devKey(rand.Text()) }

// address returns the path of a page with the key.
func (k devKey) address(page string) string { return page + "?key=" + string(k) }

func (k devKey) is(text string) bool {
	return k != "" && subtle.ConstantTimeCompare([]byte(text), []byte(k)) == 1
}

// guard admits requests with the key and a host name of this machine. Clients with a token of
// the API need no key.
func (k devKey) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		switch cookie, err := r.Cookie(keyCookie); {
		case !loopbackHost(r.Host):
			http.Error(w, "with --dev the pages are for this machine only, by the address the service listens on", http.StatusForbidden)
		case k.is(query.Get("key")):
			http.SetCookie(w, &http.Cookie{Name: keyCookie, Value: string(k), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
			query.Del("key")
			http.Redirect(w, r, (&url.URL{Path: "/" + strings.TrimLeft(r.URL.Path, "/"), RawQuery: query.Encode()}).String(), http.StatusSeeOther)
		case err == nil && k.is(cookie.Value), strings.HasPrefix(r.URL.Path, "/api/v1/") && r.Header.Get("Authorization") != "":
			next.ServeHTTP(w, r)
		default:
			http.Error(w, "with --dev the pages are for who started the service: open the address in its log, which ends in ?key=...", http.StatusForbidden)
		}
	})
}

func loopbackHost(host string) bool {
	name := (&url.URL{Host: host}).Hostname()
	ip, err := netip.ParseAddr(name)
	return strings.EqualFold(name, "localhost") || err == nil && ip.IsLoopback()
}
