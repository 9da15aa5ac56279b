package outside

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Attack is a URL in a repository that makes a client which fetches it reach forbidden addresses, or never
// end.
type Attack struct {
	Name string
	// URL is that of a file, or of a git repository if Git is set. $HOSTILE is a server that
	// does what the path says, see Hostile.
	URL string
	Git bool
	// WantError is a part of the error for why nothing is fetched.
	WantError string
	// Slow is set if it takes as long as the time limits.
	Slow bool
}

// Attacks returns forbidden addresses in every form, and hostile responses of a server.
func Attacks() []Attack {
	const (
		loopback, private, local = "an address of this host", "a private address", "a link-local address"
		reserved, hidden         = "a reserved address", "an IPv4 address in another form"
	)
	var all []Attack
	for _, a := range [][2]string{
		{"127.0.0.1", loopback}, {"127.8.8.8", loopback}, {"[::1]", loopback}, {"0.0.0.0", loopback}, {"[::]", loopback},
		{"localhost", loopback}, {"10.1.2.3", private}, {"172.31.255.255", private}, {"192.168.0.1", private}, {"[fd12::1]", private},
		{"169.254.169.254", local}, {"[fd00:ec2::254]", private}, {"168.63.129.16", "a metadata service"},
		{"100.100.100.200", "a shared address"}, {"100.64.0.1", "a shared address"}, {"240.0.0.1", reserved}, {"192.0.0.192", reserved}, {"[fe80::1]", local}, {"224.0.0.1", "a multicast address"},
		{"255.255.255.255", reserved}, {"198.18.0.1", "an address of benchmarks"}, {"203.0.113.7", "an address of documentation"},
		{"[::ffff:127.0.0.1]", loopback}, {"[::ffff:a9fe:a9fe]", local}, {"[::7f00:1]", hidden}, {"[64:ff9b::7f00:1]", hidden},
		{"[64:ff9b:1::7f00:1]", hidden}, {"[2002:7f00:1::1]", hidden}, {"[2001:0:4136:e378:8000:63bf:80ff:fffe]", "a Teredo address"},
		{"[1234::1]", "an address that is not assigned"},
	} {
		all = append(all, Attack{Name: "address " + a[0], URL: "https://" + a[0] + "/a.yaml", WantError: a[1]})
	}
	for _, a := range []Attack{
		{Name: "redirect to another port", URL: "to-internal/a.yaml", WantError: loopback},
		{Name: "redirect to metadata", URL: "to-metadata/a.yaml", WantError: local},
		{Name: "redirect to a mapped address", URL: "to-mapped/a.yaml", WantError: loopback},
		{Name: "redirect to an address in other digits", URL: "to-digits/a.yaml"},
		{Name: "redirect without encryption", URL: "to-plain/a.yaml", WantError: "only https"},
		{Name: "redirect to a file", URL: "to-file/a.yaml"},
		{Name: "redirect to itself", URL: "to-itself/a.yaml", WantError: "more than 5 redirects"},
		{Name: "redirect with credentials", URL: "to-credentials/a.yaml", WantError: "credentials in it"},
		{Name: "an error", URL: "error/a.yaml", WantError: "answers 500"},
		{Name: "headers without an end", URL: "headers/a.yaml"},
		{Name: "body without an end", URL: "endless/a.yaml", WantError: "more than"},
		{Name: "body that is cut off", URL: "cut/a.yaml"},
		{Name: "body that stalls", URL: "stall/a.yaml", WantError: "sends nothing for too long", Slow: true},
		{Name: "body that trickles", URL: "trickle/a.yaml", WantError: "takes too long", Slow: true},
		{Name: "no answer", URL: "silent/a.yaml", Slow: true},
		{Name: "git server that is none", URL: "page/org/repo", Git: true, WantError: "no git repository"},
		{Name: "git redirect to another port", URL: "to-internal/org/repo", Git: true, WantError: loopback},
		{Name: "git references without an end", URL: "references/org/repo", Git: true},
	} {
		a.URL = "$HOSTILE/" + a.URL
		all = append(all, a)
	}
	return append(all,
		Attack{Name: "URL without encryption", URL: "http://example.com/a.yaml", WantError: "only https"},
		Attack{Name: "URL with credentials", URL: "https://user:pass@example.com/a.yaml", WantError: "credentials in it"},
		Attack{Name: "repository without encryption", URL: "http://example.com/org/repo", Git: true, WantError: "only https"},
	)
}

// Hostile serves the URLs of the attacks. Some redirect to the URL internal.
func Hostile(internal string) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		what, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		switch what {
		case "to-internal":
			redirect(rw, internal+"/"+rest+"?"+r.URL.RawQuery)
		case "to-metadata":
			redirect(rw, "https://169.254.169.254/latest/meta-data/")
		case "to-mapped":
			redirect(rw, "https://[::ffff:127.0.0.1]/a")
		case "to-digits":
			redirect(rw, "https://0x7f000001/a")
		case "to-plain":
			redirect(rw, "http://"+r.Host+"/a")
		case "to-file":
			redirect(rw, "file:///etc/passwd")
		case "to-itself":
			redirect(rw, r.URL.Path)
		case "to-credentials":
			redirect(rw, "https://user:pass@"+r.Host+"/a")
		case "error":
			rw.WriteHeader(http.StatusInternalServerError)
		case "headers":
			rw.Header().Set("X-Long", strings.Repeat("a", 2<<20))
		case "cut":
			rw.Header().Set("Content-Length", "1000")
			_, _ = rw.Write([]byte("a"))
		case "page":
			_, _ = rw.Write([]byte("<html>"))
		case "references":
			rw.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
			repeat(rw, r, strings.Repeat("a", 1<<16), 0)
		case "endless":
			repeat(rw, r, strings.Repeat("a", 1<<16), 0)
		case "trickle":
			repeat(rw, r, "a", 20*time.Millisecond)
		case "stall":
			repeat(rw, r, "a", time.Hour)
		case "silent":
			<-r.Context().Done()
		default:
			http.NotFound(rw, r)
		}
	})
}

func redirect(rw http.ResponseWriter, to string) {
	rw.Header().Set("Location", to)
	rw.WriteHeader(http.StatusFound)
}

// repeat writes a text again and again, until the client disconnects.
func repeat(rw http.ResponseWriter, r *http.Request, text string, pause time.Duration) {
	for r.Context().Err() == nil {
		if _, err := fmt.Fprint(rw, text); err != nil {
			return
		}
		if pause > 0 {
			rw.(http.Flusher).Flush()
			select {
			case <-time.After(pause):
			case <-r.Context().Done():
			}
		}
	}
}
