package webhooks

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/internal/githubtest"
)

// TestLoad checks that mistakes of files in settings are reported where the settings are: flag,
// variable, or line.
func TestLoad(t *testing.T) {
	hub, err := githubtest.New(githubtest.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer hub.Close()
	made, err := hub.AddApp(githubtest.AppOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{
		"key.pem": string(made.PrivateKey), "secret": "hunter2\n", "client": "c\n",
		"empty": " \n", "text": "hunter2", "lines": "hunter2\nhunter3\n",
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name  string
		file  string
		flags map[string][]string
		env   environment
		want  []string // none: it is valid
	}{
		{"right", complete, nil, nil, nil},
		{"secrets in variables", "", nil, environment{
			"PREADMIT_PUBLIC_URL": "https://x.example", "PREADMIT_APP_ID": "7", "PREADMIT_APP_CLIENT_ID": "x", "PREADMIT_APP_CLIENT_SECRET": "c",
			"PREADMIT_APP_PRIVATE_KEY": string(made.PrivateKey), "PREADMIT_APP_WEBHOOK_SECRET": " hunter2\n"}, nil},
		{"no file", strings.Replace(complete, "File: secret", "File: none", 1), nil, nil,
			[]string{"serve.yaml:5:22: app.webhookSecretFile: open none: no such file or directory; name a file that this user may read"}},
		{"a directory", complete, map[string][]string{"app-webhook-secret-file": {"."}}, nil, []string{"--app-webhook-secret-file: read .: is a directory; name a file"}},
		{"several", complete, map[string][]string{"app-webhook-secret-file": {"empty"}}, environment{"PREADMIT_APP_CLIENT_SECRET_FILE": "none"},
			[]string{"--app-webhook-secret-file: empty is empty: write the secret into it", "PREADMIT_APP_CLIENT_SECRET_FILE: open none"}},
		{"lines", complete, nil, environment{"PREADMIT_APP_WEBHOOK_SECRET_FILE": "lines"}, []string{"PREADMIT_APP_WEBHOOK_SECRET_FILE: the secret has more than one line"}},
		{"no key", complete, map[string][]string{"app-private-key-file": {"text"}}, nil, []string{"--app-private-key-file: this is no RSA private key in PEM: use the .pem file"}},
		{"no key in the file", strings.Replace(complete, "key.pem", "text", 1), nil, nil, []string{"serve.yaml:4:19: app.privateKeyFile: this is no RSA private key in PEM"}},
		{"no key in a variable", strings.Replace(complete, "  privateKeyFile: key.pem\n", "", 1), nil, environment{"PREADMIT_APP_PRIVATE_KEY": "hunter2"},
			[]string{"PREADMIT_APP_PRIVATE_KEY: this is no RSA private key in PEM"}},
		{"NATS", complete + "nats: {url: 'tls://nats', credentialsFile: none, caFile: none}\n", nil, nil,
			[]string{"serve.yaml:8:44: nats.credentialsFile: open none", "serve.yaml:8:58: nats.caFile: open none"}},
		{"data directory", complete, map[string][]string{"data-dir": {"text"}}, nil, []string{"--data-dir: mkdir text: not a directory; name a directory that this user may make and write"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			env := environment{"PREADMIT_DATA_DIR": filepath.Join(t.TempDir(), "data")}
			maps.Copy(env, test.env)
			s := Sources{Flags: test.flags, Getenv: env.get}
			if test.file != "" {
				s.File, s.Data = "serve.yaml", []byte(test.file)
			}
			_, err := Load(s)
			if len(test.want) == 0 {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil {
				t.Fatal("no error")
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) != len(test.want) {
				t.Errorf("%d mistakes, want %d:\n%v", len(lines), len(test.want), err)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error lacks %q:\n%v", want, err)
				}
			}
			if strings.Contains(err.Error(), "hunter") {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
}

// TestPrepare checks that the data directory is accessible to its user only, and left empty.
func TestPrepare(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	for range 2 {
		if err := prepare(dir); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		got = append(got, strings.TrimPrefix(path, dir)+" "+info.Mode().String())
		return err
	})
	if diff := cmp.Diff([]string{" drwx------", "/tmp drwx------"}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if os.Getuid() == 0 {
		return // root may write anywhere
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if err := prepare(dir); err == nil {
		t.Error("a directory that cannot be written is taken")
	}
}

// TestUnknownVariables checks that unknown variables are mistakes, except those that Kubernetes sets for
// Services.
func TestUnknownVariables(t *testing.T) {
	for variable, want := range map[string]string{
		"PREADMIT_FORKS=off":                              "",
		"PREADMIT_FORK=off":                               "PREADMIT_FORK: no setting has this variable; is it PREADMIT_FORKS?",
		"PREADMIT_APP_PRIVATE_KEYFILE=a":                  "is it PREADMIT_APP_PRIVATE_KEY_FILE, PREADMIT_APP_PRIVATE_KEY?",
		"PREADMIT_FOO=":                                   "",
		"PREADMIT_XYZ=1":                                  "PREADMIT_XYZ: no setting has this variable; preadmit serve --help lists them",
		"PREADMIT_PORT=8080":                              "PREADMIT_PORT: no setting",
		"PREADMIT_PORT=tcp://10.0.0.1:80":                 "",
		"PREADMIT_PORT_80_TCP_ADDR=10.0.0.1":              "",
		"PREADMIT_SERVICE_HOST=10.0.0.1":                  "",
		"PREADMIT_METRICS_SERVICE_PORT_HTTP_METRICS=9090": "",
		"PATH=/bin":                                       "",
	} {
		_, err := ReadConfig(Sources{Dev: true, Getenv: environment{}.get, Environ: []string{"A=b", variable}})
		if got := err != nil; got != (want != "") || got && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", variable, err, want)
		}
	}
}
