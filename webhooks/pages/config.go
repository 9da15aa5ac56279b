package pages

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/preadmit/preadmit/report/github/retry"
	"github.com/preadmit/preadmit/webhooks/app"
)

// checkConfig sets defaults, and rejects a configuration that could give access to the wrong people.
func checkConfig(c *Config) (*url.URL, error) {
	if c.WebURL == "" && c.App != nil {
		c.WebURL = c.App.WebURL()
	}
	c.WebURL = strings.TrimSuffix(cmp.Or(c.WebURL, app.DefaultWebURL), "/")
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Transport == nil {
		c.Transport = http.DefaultTransport
	}
	c.Transport = retry.Bounded(c.Transport)
	public, err := publicURL(c.PublicURL)
	if err == nil {
		err = checkAccess(c, public)
	}
	if err == nil {
		err = checkTokens(c.Tokens)
	}
	return public, err
}

func publicURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, fmt.Errorf("publicURL: want the URL by which browsers reach the service, like https://preadmit.example.org, not %q", text)
	}
	if strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, fmt.Errorf("publicURL: %q must have no path: give the service a host name of its own", text)
	}
	u.Path = ""
	return u, nil
}

func checkAccess(c *Config, public *url.URL) error {
	switch c.Access {
	case AccessGitHub:
		if c.App == nil || c.App.Credentials().ClientID == "" || c.App.Credentials().ClientSecret == "" {
			return fmt.Errorf("pages.access is github, by which viewers log in to the App: set %s and %s, which are on the App's settings page", app.KeyClientID, app.KeyClientSecret)
		}
		if public.Scheme != "https" && !loopbackName(public.Hostname()) {
			return fmt.Errorf("publicURL: logging in needs https, or the session could be read on the way; it is %q", c.PublicURL)
		}
	case AccessProxy:
		if c.Header == "" || len(c.Proxies) == 0 {
			return errors.New("pages.access is proxy, which needs pages.header, set by the proxy, and pages.trustedProxies, its addresses")
		}
	case AccessOpen:
		if !loopbackName(public.Hostname()) {
			return fmt.Errorf("pages.access is open, which is for the loopback interface only: publicURL is %q", c.PublicURL)
		}
	default:
		return fmt.Errorf("pages.access: want github or proxy, not %q", c.Access)
	}
	return nil
}

// loopbackName reports whether a host name is of the loopback interface.
func loopbackName(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}
