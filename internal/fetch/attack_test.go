package fetch

import (
	"context"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/artifact/store"
)

// world has an internal server that must receive no request, and one that is allowed by its name
// and does what the attack needs.
type world struct {
	t        *testing.T
	internal *server
	hostile  *server
	handle   http.HandlerFunc
	opts     Options
}

// attack is an attempt to make the client do what it must not. It returns what to fetch.
type attack struct {
	name string
	do   func(w *world) artifact.Artifact
	want string // a part of the error
}

func file(url string) artifact.Artifact { return artifact.Artifact{Kind: artifact.File, URL: url} }

// address returns an attack by the address in a URL.
func address(name, host, want string) attack {
	return attack{name, func(w *world) artifact.Artifact { return file("https://" + host + "/a.yaml") }, want}
}

// lookup returns an attack by the addresses of a name.
func lookup(name, want string, addresses ...string) attack {
	return attack{name, func(w *world) artifact.Artifact {
		w.opts.Resolver = names(w.t, func(string, int) []string { return addresses })
		_, port, _ := strings.Cut(w.internal.host(), ":")
		return file("https://example.com:" + port + "/a.yaml")
	}, want}
}

// redirect returns an attack by an allowed server that redirects.
func redirect(name, want string, to func(w *world) string) attack {
	return attack{name, func(w *world) artifact.Artifact {
		target := to(w)
		w.handle = func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Location", target)
			rw.WriteHeader(http.StatusFound)
		}
		return file(w.hostile.URL + "/a.yaml")
	}, want}
}

// helmIndex returns an attack by the index of a Helm repository.
func helmIndex(name, want string, index func(w *world) string) attack {
	return attack{name, func(w *world) artifact.Artifact {
		text := index(w)
		w.handle = func(rw http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/index.yaml") {
				fmt.Fprint(rw, text)
				return
			}
			fmt.Fprint(rw, "chart")
		}
		return artifact.Artifact{Kind: artifact.Chart, URL: w.hostile.URL, Name: "app", Version: "1.0.0"}
	}, want}
}

// chartAt returns an index with one version of the chart app.
func chartAt(url, digest string) func(*world) string {
	return func(*world) string {
		return fmt.Sprintf("entries:\n  app:\n  - version: 1.0.0\n    urls: [%q]\n    digest: %q\n", url, digest)
	}
}

// answer returns an attack by the response to a request for a file.
func answer(name, want string, handle http.HandlerFunc) attack {
	return attack{name, func(w *world) artifact.Artifact {
		w.handle = handle
		return file(w.hostile.URL + "/a.yaml")
	}, want}
}

// manifest returns an attack by a registry.
func manifest(name, want, version string, layers string, blob []byte) attack {
	return attack{name, func(w *world) artifact.Artifact {
		text := `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"a","digest":"` + digestOf(nil) + `","size":0},"layers":[` + layers + `]}`
		w.handle = func(rw http.ResponseWriter, r *http.Request) {
			switch {
			case strings.Contains(r.URL.Path, "/manifests/"):
				rw.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
				fmt.Fprint(rw, text)
			case strings.Contains(r.URL.Path, "/blobs/"):
				_, _ = rw.Write(blob)
			}
		}
		return artifact.Artifact{Kind: artifact.OCI, URL: "oci://" + w.hostile.host() + "/a", Version: version}
	}, want}
}

func layer(digest string, size int) string {
	return fmt.Sprintf(`{"mediaType":"a","digest":%q,"size":%d}`, digest, size)
}

func attacks() []attack {
	internal := func(w *world) string { return w.internal.URL + "/secret" }
	to := func(url string) func(*world) string { return func(*world) string { return url } }
	other := strings.Repeat("0", 64)
	return []attack{
		{"loopback with its port", func(w *world) artifact.Artifact { return file(internal(w)) }, "an address of this host"},
		address("loopback", "127.0.0.1", "an address of this host"),
		address("loopback, another", "127.8.8.8", "an address of this host"),
		address("loopback of IPv6", "[::1]", "an address of this host"),
		address("unspecified", "0.0.0.0", "an address of this host"),
		address("unspecified of IPv6", "[::]", "an address of this host"),
		address("private 10", "10.1.2.3", "a private address"),
		address("private 172.16", "172.31.255.255", "a private address"),
		address("private 192.168", "192.168.0.1", "a private address"),
		address("unique local", "[fd12::1]", "a private address"),
		address("metadata", "169.254.169.254", "a link-local address"),
		address("metadata of IPv6", "[fd00:ec2::254]", "a private address"),
		address("metadata of Azure", "168.63.129.16", "a metadata service"),
		address("metadata of Alibaba", "100.100.100.200", "a shared address"),
		address("metadata of Oracle", "192.0.0.192", "a reserved address"),
		address("link-local of IPv6", "[fe80::1]", "a link-local address"),
		address("link-local with a zone", "[fe80::1%25lo]", "an address of one network"),
		address("multicast", "224.0.0.1", "a multicast address"),
		address("broadcast", "255.255.255.255", "a reserved address"),
		address("benchmarks", "198.18.0.1", "an address of benchmarks"),
		address("documentation", "203.0.113.7", "an address of documentation"),
		address("mapped", "[::ffff:127.0.0.1]", "an address of this host"),
		address("mapped, in hex", "[::ffff:a9fe:a9fe]", "a link-local address"),
		address("compatible", "[::7f00:1]", "an IPv4 address in another form"),
		address("NAT64", "[64:ff9b::7f00:1]", "an IPv4 address in another form"),
		address("local NAT64", "[64:ff9b:1::7f00:1]", "an IPv4 address in another form"),
		address("6to4", "[2002:7f00:1::1]", "an IPv4 address in another form"),
		address("Teredo", "[2001:0:4136:e378:8000:63bf:80ff:fffe]", "a Teredo address"),
		address("not assigned", "[1234::1]", "an address that is not assigned"),
		lookup("name of loopback", "an address of this host", "127.0.0.1"),
		lookup("name of loopback of IPv6", "an address of this host", "::1"),
		lookup("name of metadata", "a link-local address", "169.254.169.254"),
		lookup("name of several", "an address of this host", "127.0.0.1", "127.0.0.2"),
		{"an address in other digits", func(w *world) artifact.Artifact {
			w.opts.Resolver = names(w.t, func(string, int) []string { return []string{"127.0.0.1"} })
			return file("https://2130706433/a.yaml")
		}, "no such host"},
		{"name that changes its address", func(w *world) artifact.Artifact {
			w.opts.Resolver = names(w.t, func(_ string, asked int) []string {
				return [][]string{{"192.0.2.1"}, {"127.0.0.1"}}[asked%2]
			})
			_, port, _ := strings.Cut(w.internal.host(), ":")
			return file("https://example.com:" + port + "/a.yaml")
		}, "not connected to"},

		redirect("redirect to another port of an allowed host", "an address of this host", internal),
		redirect("redirect to metadata", "a link-local address", to("https://169.254.169.254/latest/meta-data/")),
		redirect("redirect without encryption", "only https", func(w *world) string { return "http://" + w.hostile.host() + "/a" }),
		redirect("redirect to a file", "", to("file:///etc/passwd")),
		redirect("redirect to itself", "more than 5 redirects", to("/a.yaml")),
		redirect("redirect with credentials", "credentials in it", func(w *world) string { return "https://user:pass@" + w.hostile.host() + "/a" }),
		{"redirect of a git repository", func(w *world) artifact.Artifact {
			w.handle = func(rw http.ResponseWriter, r *http.Request) {
				http.Redirect(rw, r, w.internal.URL+r.URL.RequestURI(), http.StatusFound)
			}
			return artifact.Artifact{Kind: artifact.Git, URL: w.hostile.URL + "/a/b"}
		}, "an address of this host"},

		helmIndex("chart at an internal address", "an address of this host", func(w *world) string { return chartAt(internal(w), "")(w) }),
		helmIndex("chart without encryption", "only https", chartAt("http://example.com/a.tgz", "")),
		helmIndex("chart in a file", "only https", chartAt("file:///etc/passwd", "")),
		helmIndex("chart with another digest", "in the index of its repository", chartAt("a.tgz", other)),
		helmIndex("chart in an internal registry", "", func(w *world) string { return chartAt("oci://"+w.internal.host()+"/a:1", "")(w) }),
		helmIndex("index of aliases", "aliases", func(*world) string {
			return "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\nentries: {}\n"
		}),
		helmIndex("index without an end", "more than", func(*world) string { return strings.Repeat("# nothing\n", 200_000) }),
		helmIndex("index that is deep", "", func(*world) string { return strings.Repeat("[", 100_000) }),
		helmIndex("index that is none", "no index", func(*world) string { return "hello: there\n" }),

		manifest("layer with another content", "want sha256:", "v1", layer(digestOf([]byte("good")), 4), []byte("evil")),
		manifest("layer that is longer", "", "v1", layer(digestOf([]byte("good")), 4), []byte("good, and more")),
		manifest("layer of any size", "more than the limit", "v1", layer(digestOf(nil), 1<<40), nil),
		manifest("layer with a negative size", "more than the limit", "v1", layer(digestOf(nil), -1), nil),
		manifest("layer with another hash", "want one of sha256", "v1", layer(fmt.Sprintf("sha512:%x", sha512.Sum512(nil)), 0), nil),
		manifest("manifest with another digest", "digest", "sha256:"+other, layer(digestOf([]byte("good")), 4), []byte("good")),
		manifest("manifest without layers", "no layers", "v1", "", nil),
		{"tags without an end", func(w *world) artifact.Artifact {
			n := 0
			w.handle = func(rw http.ResponseWriter, r *http.Request) {
				n++
				rw.Header().Set("Link", fmt.Sprintf(`</v2/a/tags/list?n=%d>; rel="next"`, n))
				_ = json.NewEncoder(rw).Encode(map[string]any{"name": "a", "tags": []string{fmt.Sprintf("1.0.%d", n)}})
			}
			return artifact.Artifact{Kind: artifact.OCI, URL: "oci://" + w.hostile.host() + "/a", Version: "semver:1.x"}
		}, "more than"},
		{"manifest without an end", func(w *world) artifact.Artifact {
			w.handle = func(rw http.ResponseWriter, r *http.Request) {
				rw.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
				endless(rw, r)
			}
			return artifact.Artifact{Kind: artifact.OCI, URL: "oci://" + w.hostile.host() + "/a", Version: "v1"}
		}, ""},
		{"realm of tokens at an internal address", func(w *world) artifact.Artifact {
			w.handle = func(rw http.ResponseWriter, r *http.Request) {
				rw.Header().Set("WWW-Authenticate", `Bearer realm="`+w.internal.URL+`/token",service="a"`)
				rw.WriteHeader(http.StatusUnauthorized)
			}
			return artifact.Artifact{Kind: artifact.OCI, URL: "oci://" + w.hostile.host() + "/a", Version: "v1"}
		}, "an address of this host"},

		answer("body without an end", "more than", endless),
		answer("body that stalls", "sends nothing for too long", func(rw http.ResponseWriter, r *http.Request) {
			fmt.Fprint(rw, "a")
			rw.(http.Flusher).Flush()
			<-r.Context().Done()
		}),
		answer("no answer", "timeout", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }),
		answer("body that trickles", "takes too long", func(rw http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				fmt.Fprint(rw, "a")
				rw.(http.Flusher).Flush()
				time.Sleep(20 * time.Millisecond)
			}
		}),
		answer("headers without an end", "", func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("X-Long", strings.Repeat("a", 2<<20))
		}),
		answer("an error", "answers 500", func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(500) }),
		{"git server that is none", func(w *world) artifact.Artifact {
			w.handle = func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprint(rw, "<html>") }
			return artifact.Artifact{Kind: artifact.Git, URL: w.hostile.URL + "/a/b"}
		}, "no git repository"},
		{"git references without an end", func(w *world) artifact.Artifact {
			w.handle = func(rw http.ResponseWriter, r *http.Request) {
				rw.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
				endless(rw, r)
			}
			return artifact.Artifact{Kind: artifact.Git, URL: w.hostile.URL + "/a/b"}
		}, ""},

		{"URL without encryption", func(*world) artifact.Artifact { return file("http://example.com/a.yaml") }, "only https"},
		{"URL of a file", func(*world) artifact.Artifact { return artifact.Artifact{Kind: artifact.Git, URL: "file:///etc"} }, "cannot be fetched"},
		{"URL of a program", func(*world) artifact.Artifact { return artifact.Artifact{Kind: artifact.Git, URL: "ext::sh -c id"} }, "space"},
		{"URL that is an option", func(*world) artifact.Artifact {
			return artifact.Artifact{Kind: artifact.Git, URL: "--upload-pack=id"}
		}, "cannot be fetched"},
		{"URL with credentials", func(*world) artifact.Artifact { return file("https://user:pass@example.com/a.yaml") }, "credentials in it"},
		{"URL with a line break", func(*world) artifact.Artifact { return file("https://example.com/a\r\nHost: b") }, "not printed"},
		{"reference that is a path", func(w *world) artifact.Artifact {
			return artifact.Artifact{Kind: artifact.OCI, URL: "oci://" + w.hostile.host() + "/../../a", Version: "v1"}
		}, "no repository"},
		{"version that is a path", func(w *world) artifact.Artifact {
			return artifact.Artifact{Kind: artifact.OCI, URL: "oci://" + w.hostile.host() + "/a", Version: "../../blobs/uploads"}
		}, ""},
	}
}

func endless(rw http.ResponseWriter, r *http.Request) {
	part := []byte(strings.Repeat("a", 1<<16))
	for r.Context().Err() == nil {
		if _, err := rw.Write(part); err != nil {
			return
		}
	}
}

// TestAttacks checks that every attack fails with an error, the internal server receives no request, and
// nothing is written outside of the cache.
func TestAttacks(t *testing.T) {
	all := attacks()
	t.Logf("%d attacks", len(all))
	for _, a := range all {
		t.Run(a.name, func(t *testing.T) {
			w := &world{t: t, opts: Options{Limits: Limits{
				Time: 2 * time.Second, Stall: 300 * time.Millisecond, Index: 1 << 20, Content: 1 << 20, Answer: 4 << 20, Tags: 20,
			}}}
			w.internal = serveFunc(t, func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, "secret") })
			w.hostile = serveFunc(t, func(rw http.ResponseWriter, r *http.Request) {
				if w.handle == nil {
					http.NotFound(rw, r)
					return
				}
				w.handle(rw, r)
			})
			asked := a.do(w)
			dir := t.TempDir()
			w.opts.Hosts, w.opts.RootCAs = []string{w.hostile.host()}, roots(w.hostile)
			client := New(store.Open(filepath.Join(dir, "cache")), w.opts)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			pin, err := client.Resolve(ctx, asked)
			if err == nil {
				t.Fatalf("it is fetched: %+v", pin)
			}
			if !strings.Contains(err.Error(), a.want) {
				t.Errorf("error %v, want one with %q", err, a.want)
			}
			if asked := w.internal.requests(); asked != "" {
				t.Errorf("the internal server was asked: %s", asked)
			}
			for _, name := range list(t, dir) {
				if name != "cache" && !strings.HasPrefix(name, "cache/") || strings.Contains(name, "new-") {
					t.Errorf("%s was written", name)
				}
			}
		})
	}
}

func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, _ os.DirEntry, err error) error {
		if rel, _ := filepath.Rel(dir, name); rel != "." {
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestForbidden checks that public addresses are permitted.
func TestForbidden(t *testing.T) {
	for _, a := range []string{"140.82.121.3", "1.1.1.1", "2606:4700::1111", "2a00:1450:4001:80e::200e", "2400:cb00::1", "172.15.0.1", "172.32.0.1", "100.63.0.1", "100.128.0.1", "2003::1"} {
		if is := forbidden(netip.MustParseAddr(a)); is != "" {
			t.Errorf("%s is called %s", a, is)
		}
	}
}

// TestCredentialsStay checks that credentials are sent to their host only: not along a redirect, not to
// another port, not to a realm that is not configured.
func TestCredentialsStay(t *testing.T) {
	other := serveFunc(t, func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/token") {
			fmt.Fprint(rw, `{"token":"anonymous"}`)
			return
		}
		fmt.Fprint(rw, "content")
	})
	home := serveFunc(t, func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/v2/"):
			rw.Header().Set("WWW-Authenticate", `Bearer realm="`+other.URL+`/token",service="a"`)
			rw.WriteHeader(http.StatusUnauthorized)
		default:
			http.Redirect(rw, r, other.URL+"/b.yaml", http.StatusFound)
		}
	})
	read := func(realm string) *Credentials {
		text := "hosts:\n- {host: '" + home.host() + "', username: bot, passwordEnv: P" + realm + "}\n"
		logins, err := ParseCredentials("c", []byte(text), func(string) string { return "secret" })
		if err != nil {
			t.Fatal(err)
		}
		return logins
	}
	client, _ := newClient(t, Options{Credentials: read("")}, home, other)
	if _, err := client.Resolve(t.Context(), file(home.URL+"/a.yaml")); err != nil {
		t.Error(err)
	}
	oci := artifact.Artifact{Kind: artifact.OCI, URL: "oci://" + home.host() + "/a", Version: "v1"}
	if _, err := client.Resolve(t.Context(), oci); err == nil {
		t.Error("the registry is satisfied")
	}
	if !strings.Contains(home.requests(), "Basic ") {
		t.Errorf("the host did not get its credentials: %s", home.requests())
	}
	if asked := other.requests(); asked == "" || strings.Contains(asked, "Basic ") {
		t.Errorf("the other host was asked: %s", asked)
	}
	// A configured realm receives them.
	client, _ = newClient(t, Options{Credentials: read(", realms: ['" + other.host() + "']")}, home, other)
	_, _ = client.Resolve(t.Context(), oci)
	if asked := other.requests(); !strings.Contains(asked, "/token Basic ") {
		t.Errorf("the realm was asked: %s", asked)
	}
}
