package webhooks

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// complete is a minimal configuration of a service.
const complete = `publicURL: https://preadmit.example.com
app:
  id: 7
  privateKeyFile: key.pem
  webhookSecretFile: secret
  clientID: Iv1.abc
  clientSecretFile: client
`

func TestReadConfig(t *testing.T) {
	c, err := ReadConfig(Sources{
		File: "serve.yaml", Data: []byte(complete + `scan: {memory: 512Mi, timeout: 90s, concurrency: 4}
pages: {admins: [alice, bob]}
api:
  tokens:
  - {name: ci, sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08, repositories: [octo/shop]}
`),
		Flags:  map[string][]string{"scan-concurrency": {"8"}, "listen": {":80"}},
		Getenv: environment{"PREADMIT_SCAN_CONCURRENCY": "6", "PREADMIT_KEEP_SIZE": "1Gi", "PREADMIT_KEEP_SCANS": "5000", "PREADMIT_PAGES_ADMINS": "carol,dan"}.get,
	})
	if err != nil {
		t.Fatal(err)
	}
	got := []any{c.App.ID, c.Scan.Memory, time.Duration(c.Scan.Timeout), c.Scan.Concurrency, c.Listen, c.Keep.Size, c.Keep.Scans, c.Pages.Admins, c.GitHub.URL, c.Forks}
	want := []any{int64(7), Size(512 << 20), 90 * time.Second, 8, ":80", Size(1 << 30), 5000, []string{"carol", "dan"}, "https://github.com", "on"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
}

// TestHeaderName checks that every valid name of a header is accepted.
func TestHeaderName(t *testing.T) {
	for _, name := range []string{"X-Forwarded.User", "x_user", "!#$%&'*+-.^_`|~9"} {
		c, err := ReadConfig(Sources{File: "serve.yaml", Data: []byte(complete + "pages: {access: proxy, trustedProxies: [10.0.0.0/8]}\n"), Getenv: environment{"PREADMIT_PAGES_HEADER": name}.get})
		if err != nil || c.Pages.Header != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type environment map[string]string

func (e environment) get(name string) string { return e[name] }

func TestReadConfigDev(t *testing.T) {
	if _, err := ReadConfig(Sources{Dev: true, Getenv: environment{}.get}); err != nil {
		t.Errorf("--dev needs more than nothing: %v", err)
	}
	_, err := ReadConfig(Sources{Dev: true, Getenv: environment{"PREADMIT_LISTEN": ":8080"}.get})
	if err == nil || !strings.Contains(err.Error(), "PREADMIT_LISTEN: \":8080\": with --dev") {
		t.Errorf("--dev on all addresses: %v", err)
	}
}

// TestReadConfigErrors checks that every mistake names the key at its origin, and the fix.
func TestReadConfigErrors(t *testing.T) {
	tests := []struct {
		name, file string
		flags      map[string][]string
		env        environment
		want       []string
	}{
		{"nothing", "", nil, nil, []string{
			"app.id: the ID of the GitHub App is needed", "app.privateKeyFile: is needed", "set PREADMIT_APP_PRIVATE_KEY",
			"app.webhookSecretFile: is needed", "publicURL: is needed", "app.clientID: is needed",
		}},
		{"unknown key", complete + "lissten: x\n", nil, nil, []string{`serve.yaml:8:1: lissten: unknown key`, `listen`}},
		{"number", complete + "scan:\n  concurrency: many\n", nil, nil, []string{`serve.yaml:9:16: scan.concurrency: want a whole number, not the string "many"`}},
		{"zero", complete + "scan:\n  concurrency: 0\n", nil, nil, []string{`serve.yaml:9:16: scan.concurrency: must be at least 1`}},
		{"time", complete + "drain: 5\n", nil, nil, []string{`serve.yaml:8:8: drain: want a time like 30s or 5m, not "5"`}},
		{"size", complete + "keep: {size: much}\n", nil, nil, []string{`serve.yaml:8:14: keep.size: want a size like`}},
		{"few scans", complete + "keep: {scans: 999}\n", nil, nil, []string{`serve.yaml:8:15: keep.scans: must be at least 1000`}},
		{"negative size", complete + "keep: {size: -1Gi}\n", nil, nil, []string{`keep.size: want a size like`}},
		{"secret", complete + "nats: {url: 7}\n", nil, nil, []string{"nats.url: want a string"}},
		{"a secret in the file", strings.Replace(complete, "webhookSecretFile", "webhookSecret", 1), nil, nil,
			[]string{"serve.yaml:5:18: app.webhookSecret: a secret does not belong into the configuration", "PREADMIT_APP_WEBHOOK_SECRET"}},
		{"both", complete, nil, environment{"PREADMIT_APP_WEBHOOK_SECRET": "s"}, []string{
			"serve.yaml:5:22: app.webhookSecretFile: is given beside PREADMIT_APP_WEBHOOK_SECRET"}},
		{"flag", complete, map[string][]string{"forks": {"maybe"}}, nil, []string{`--forks: "maybe": want one of on, off, approve`}},
		{"flag that is no number", complete, map[string][]string{"app-id": {"x"}}, nil, []string{`--app-id: want a whole number, not "x"`}},
		{"variable", complete, nil, environment{"PREADMIT_SCAN_MEMORY": "x"}, []string{`PREADMIT_SCAN_MEMORY: want a size`}},
		{"URL", complete, nil, environment{"PREADMIT_PUBLIC_URL": "preadmit.example.com"}, []string{`PREADMIT_PUBLIC_URL: "preadmit.example.com": want a URL`}},
		{"address", complete + "listen: localhost\n", nil, nil, []string{`serve.yaml:8:9: listen: "localhost": want host:port`}},
		{"proxy", complete + "pages: {access: proxy}\n", nil, nil, []string{"pages.header: is needed", "pages.trustedProxies: is needed"}},
		{"proxies", complete + "pages: {trustedProxies: [10.0.0.0]}\n", nil, nil, []string{`pages.trustedProxies: "10.0.0.0" (number 1)`}},
		{"token", complete + "api:\n  tokens:\n  - {name: a, sha256: abc, repositories: [x]}\n  - {name: a}\n", nil, nil, []string{
			"serve.yaml:10:23: api.tokens[0].sha256: want the SHA-256", "api.tokens[0].repositories[0]: \"x\": want owner/name", "api.tokens[1].name: want a name that no other"}},
		{"repeated key", complete + "forks: on\nforks: off\n", nil, nil, []string{"serve.yaml:9:1: forks: repeated key, first on line 8"}},
		{"boolean", complete + "checkName: true\n", nil, nil, []string{"serve.yaml:8:12: checkName: want a string, not the boolean true (quote it)"}},
		{"all at once", complete + "lissten: x\n", map[string][]string{"app-id": {"x"}}, environment{"PREADMIT_SCAN_MEMORY": "x"}, []string{
			"serve.yaml:8:1: lissten: unknown key", "--app-id: want a whole number", "PREADMIT_SCAN_MEMORY: want a size"}},
		{"all at once but for the file", complete, map[string][]string{"app-id": {"x"}, "forks": {"maybe"}}, nil, []string{"--app-id: want a whole number", "--forks: "}},
		{"port", complete, map[string][]string{"listen": {":99999"}}, nil, []string{`--listen: ":99999": want a port up to 65535, like :8080`}},
		{"same address", complete + "metricsListen: 127.0.0.1:8080\n", nil, nil, []string{`serve.yaml:8:16: metricsListen: "127.0.0.1:8080" is the address of listen`}},
		{"public URL with a path", complete, map[string][]string{"public-url": {"https://x.example/preadmit"}}, nil, []string{`--public-url: "https://x.example/preadmit" must have no path: want https://x.example`}},
		{"public URL without TLS", complete, map[string][]string{"public-url": {"http://x.example"}}, nil, []string{`--public-url: "http://x.example": want https`}},
		{"URL of GitHub with the path of its API", complete + "github: {url: https://ghe.example/api/v3}\n", nil, nil, []string{`serve.yaml:8:15: github.url: "https://ghe.example/api/v3" must have no path: want https://ghe.example`}},
		{"URL of the API", complete, nil, environment{"PREADMIT_GITHUB_API_URL": "ghe"}, []string{`PREADMIT_GITHUB_API_URL: "ghe": want a URL like https://github.example.com/api/v3/`}},
		{"scheme of NATS", complete, map[string][]string{"nats-url": {"http://nats:4222"}}, nil, []string{"--nats-url: want URLs like nats://"}},
		{"no host of NATS", complete + "nats: {url: 'nats://a:4222,'}\n", nil, nil, []string{"serve.yaml:8:13: nats.url: want URLs like nats://"}},
		{"password of NATS", complete + "nats: {url: 'nats://u:hunter2@a:4222'}\n", nil, nil, []string{"serve.yaml:8:13: nats.url: has a user or token, and a secret does not belong here", "set PREADMIT_NATS_URL"}},
		{"NATS without a URL", complete + "nats: {credentialsFile: a, caFile: b, replicas: 3}\n", nil, nil, []string{"nats.credentialsFile: is for an external NATS", "nats.caFile: is", "nats.replicas: is"}},
		{"port of NATS", complete + "nats: {url: 'nats://a:99999'}\n", nil, nil, []string{"serve.yaml:8:13: nats.url: want URLs like nats://"}},
		{"memory", complete + "scan: {memory: 2}\n", nil, nil, []string{"serve.yaml:8:16: scan.memory: must be 64Mi or more"}},
		{"header", complete + "pages: {access: proxy, header: 'X: y', trustedProxies: [10.0.0.0/8]}\n", nil, nil, []string{`serve.yaml:8:32: pages.header: "X: y": want the name of a header`}},
		{"lease", complete + "queue: {lease: 10ms}\n", nil, nil, []string{"serve.yaml:8:16: queue.lease: must be 1s or more"}},
		{"client secret without an ID", strings.Replace(complete, "  clientID: Iv1.abc\n", "", 1), nil, nil, []string{"app.clientID: is needed beside the client secret"}},
		{"client ID without a secret", strings.Replace(complete, "  clientSecretFile: client\n", "", 1), nil, nil, []string{"app.clientSecretFile: is needed beside app.clientID", "or set PREADMIT_APP_CLIENT_SECRET"}},
		{"empty file", "# nothing\n", nil, nil, []string{"app.id: the ID"}},
		{"two documents", complete + "---\na: b\n", nil, nil, []string{"serve.yaml:8:1: a second YAML document"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := Sources{Flags: test.flags, Getenv: test.env.get}
			if test.file != "" {
				s.File, s.Data = "serve.yaml", []byte(test.file)
			}
			_, err := ReadConfig(s)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error lacks %q:\n%v", want, err)
				}
			}
		})
	}
}

// TestSettings checks that defaults are valid values, names are unique, and secrets have no flags.
func TestSettings(t *testing.T) {
	flags, secrets := map[string]bool{}, []string{}
	for _, s := range Settings(&Config{}) {
		if s.Usage == "" || flags[s.Env] {
			t.Errorf("%s: usage %q, variable %s", s.Key, s.Usage, s.Env)
		}
		flags[s.Env] = true
		if s.Default != "" {
			if err := s.Set(s.Default); err != nil {
				t.Errorf("%s: default: %v", s.Key, err)
			}
		}
		if s.Flag == "" {
			secrets = append(secrets, s.Key)
		}
	}
	if want := []string{"app.privateKey", "app.webhookSecret", "app.clientSecret"}; !slices.Equal(secrets, want) {
		t.Errorf("without flag: %q", secrets)
	}
	for key, want := range map[string]string{"publicURL": "public-url", "app.privateKeyFile": "app-private-key-file", "nats.caFile": "nats-ca-file", "github.apiURL": "github-api-url"} {
		if got := kebab(key); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
	if len(flags) < 30 {
		t.Errorf("only %d settings", len(flags))
	}
}
