package webhooks

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/webhooks/playground"
)

// tries sends a request of the playground's script, and returns the status and body of the response.
func tries(t *testing.T, browser *http.Client, base, client string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, base+playground.Path+"/answer", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Forwarded-For", client)
	resp, err := browser.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

// TestPlaygroundOff checks that a service has no playground by default.
func TestPlaygroundOff(t *testing.T) {
	r := run(t, nil)
	r.answers("/readyz", http.StatusOK)
	r.answers(playground.Path, http.StatusNotFound)
	if status, body := tries(t, http.DefaultClient, r.URL(), ""); status != http.StatusNotFound {
		t.Errorf("a request is answered with %d %s", status, body)
	}
}

// TestPlaygroundPublic checks that with playground.access: public everybody may try policies. They are
// judged in a jail, and a client with too many requests waits while others are served.
func TestPlaygroundPublic(t *testing.T) {
	t.Setenv("OF_THE_SERVICE", "secret")
	r := run(t, environment{"PREADMIT_PLAYGROUND_ACCESS": "public", "PREADMIT_PAGES_TRUSTED_PROXIES": "127.0.0.0/8"})
	if page := r.answers(playground.Path, http.StatusOK); !strings.Contains(page, "Policies and bindings") {
		t.Errorf("the page is\n%s", page)
	}
	status, body := tries(t, http.DefaultClient, r.URL(), "192.0.2.1")
	if want := "file: false, network: false, environment: false"; status != http.StatusOK || !strings.Contains(body, want) {
		t.Errorf("what is tried is answered with %d %s, want %s", status, body, want)
	}
	for asked := 1; status == http.StatusOK; asked++ {
		if asked > 1000 {
			t.Fatalf("%d requests of one client are answered", asked)
		}
		status, body = tries(t, http.DefaultClient, r.URL(), "192.0.2.1")
	}
	if status != http.StatusTooManyRequests || !strings.Contains(body, "You ask too often") {
		t.Errorf("one too many is answered with %d %s", status, body)
	}
	if status, body := tries(t, http.DefaultClient, r.URL(), "192.0.2.2"); status != http.StatusOK {
		t.Errorf("another client is answered with %d %s", status, body)
	}
}

// TestPlaygroundDev checks that with --dev the playground exists before there is an App, for the user
// who started the service.
func TestPlaygroundDev(t *testing.T) {
	s, browser := newDev(t, environment{"PREADMIT_PLAYGROUND_ACCESS": "public"})
	if resp, body := get(t, browser, s.URL()+playground.Path); resp.StatusCode != http.StatusOK {
		t.Errorf("the page is answered with %d %s", resp.StatusCode, body)
	}
	if status, body := tries(t, browser, s.URL(), ""); status != http.StatusOK {
		t.Errorf("what is tried is answered with %d %s", status, body)
	}
	for what, status := range map[string]func() int{
		"the page": func() int { resp, _ := get(t, http.DefaultClient, s.URL()+playground.Path); return resp.StatusCode },
		"a try":    func() int { status, _ := tries(t, http.DefaultClient, s.URL(), ""); return status },
	} {
		if got := status(); got != http.StatusForbidden {
			t.Errorf("%s is answered to others with %d", what, got)
		}
	}
	other, offered := newDev(t, nil)
	if resp, _ := get(t, offered, fmt.Sprint(other.URL(), playground.Path)); resp.StatusCode != http.StatusNotFound {
		t.Errorf("without the setting the page is answered with %d", resp.StatusCode)
	}
}

func TestNetwork(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.7":         "192.0.2.7",
		"::ffff:192.0.2.7":  "::ffff:192.0.2.7",
		"2001:db8:1:2:3::4": "2001:db8:1:2::/64",
		"2001:db8:1:2::9":   "2001:db8:1:2::/64",
		"fe80::1%eth0":      "fe80::/64",
		"not an address":    "not an address",
	} {
		if got := network(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}
