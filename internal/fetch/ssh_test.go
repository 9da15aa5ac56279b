package fetch

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/preadmit/preadmit/internal/gittest"
	"github.com/preadmit/preadmit/render/artifact"
)

func git(url, version string) artifact.Artifact {
	return artifact.Artifact{Kind: artifact.Git, URL: url, Version: version}
}

// sshServer serves a repository org/repo, and another one whose name has characters special to shells.
func sshServer(t *testing.T) (*gittest.SSHServer, *gittest.History) {
	t.Helper()
	root := t.TempDir()
	h, err := gittest.NewHistory(filepath.Join(root, "org", "repo"), map[string]string{"a/file.yaml": "content"}, map[string]string{"more.yaml": "more"}, map[string]string{"side.yaml": "side"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Git("clone", "-q", "--bare", h.Dir, filepath.Join(root, "it's $(touch hacked)")); err != nil {
		t.Fatal(err)
	}
	s, err := gittest.NewSSHServer(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, h
}

// sshLogins returns the credentials of a file.
func sshLogins(t *testing.T, host, key, hostKeys, more string) *Credentials {
	t.Helper()
	text := fmt.Sprintf("hosts:\n- host: %q\n  sshKeyEnv: KEY\n  hostKeys: [%s]\n%s", host, hostKeys, more)
	logins, err := ParseCredentials("c.yaml", []byte(text), func(string) string { return key })
	if err != nil {
		t.Fatal(err)
	}
	return logins
}

func TestSSH(t *testing.T) {
	s, h := sshServer(t)
	if _, err := h.Git("tag", "v1.2.0", h.Before); err != nil {
		t.Fatal(err)
	}
	client, _ := newClient(t, Options{Hosts: []string{s.Address}, Credentials: sshLogins(t, s.Address, s.Key, s.HostKey, "")})
	at := "ssh://git@" + s.Address
	var first artifact.Pin
	for _, test := range []struct{ url, version, commit string }{
		{at + "/org/repo", "", h.Base},
		{at + "/org/repo/", "main", h.Base},
		{"ssh://" + s.Address + "/org/repo", "semver:1.x", h.Before},
		{at + "/org/repo", h.Head, h.Head},
		{at + "/it's%20$(touch%20hacked)", "main", h.Base},
	} {
		pin, err := client.Resolve(t.Context(), git(test.url, test.version))
		if err != nil || pin.Commit != test.commit {
			t.Errorf("%s %s is %s, want %s: %v", test.url, test.version, pin.Commit, test.commit, err)
		}
		if test.version == "" {
			first = pin
		}
	}
	// The same commit over HTTPS has the same content.
	web, err := gittest.Backend(filepath.Dir(filepath.Dir(h.Dir)))
	if err != nil {
		t.Fatal(err)
	}
	other := serve(t, web)
	over, _ := newClient(t, Options{}, other)
	if err := over.Get(t.Context(), git(other.URL+"/org/repo", ""), first); err != nil {
		t.Errorf("over HTTPS: %v", err)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(filepath.Dir(h.Dir)), "hacked")); err == nil {
		t.Error("a path was run")
	}
	for _, asked := range s.Requests() {
		if asked != "connection" && !strings.HasPrefix(asked, "exec git-upload-pack '") {
			t.Errorf("the server was asked for %q", asked)
		}
	}
}

// TestSCP checks that the path in user@host:path is relative to the server's directory.
func TestSCP(t *testing.T) {
	s, h := sshServer(t)
	opts := Options{Credentials: sshLogins(t, "git.example.com", s.Key, s.HostKey, "")}
	opts.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if address != "git.example.com:22" {
			t.Errorf("dials %s", address)
		}
		return new(net.Dialer).DialContext(ctx, network, s.Address)
	}
	client, _ := newClient(t, opts)
	for _, url := range []string{"git@git.example.com:org/repo", "GIT.example.com:org/repo/.git", "ssh://git@git.example.com:22/org/repo"} {
		if pin, err := client.Resolve(t.Context(), git(strings.Replace(url, "GIT", "git", 1), "main")); err != nil || pin.Commit != h.Base {
			t.Errorf("%s: %v, %v", url, pin, err)
		}
	}
	_, err := client.Resolve(t.Context(), git("git@git.example.com:org/none", ""))
	if err == nil || !strings.Contains(err.Error(), "the server says: fatal: 'org/none' does not appear to be a git repository") {
		t.Errorf("of a repository that is not there: %v", err)
	}
}

// TestSSHRefused checks that errors before the fetch are reported, and nothing is fetched.
func TestSSHRefused(t *testing.T) {
	s, _ := sshServer(t)
	other, _ := sshServer(t)
	_, port, _ := net.SplitHostPort(s.Address)
	url := "ssh://git@" + s.Address + "/org/repo"
	good := sshLogins(t, s.Address, s.Key, s.HostKey, "")
	for _, test := range []struct {
		name, url, want string
		logins          *Credentials
		private         bool // the address is not permitted
	}{
		{"no key", url, "no key is configured for SSH to " + s.Address, nil, false},
		{"a login for HTTPS", url, "no key is configured", httpsLogin(t, s.Address), false},
		{"the key of another host", url, "no key is configured", sshLogins(t, "github.com", s.Key, s.HostKey, ""), false},
		{"the key of another port", url, "no key is configured", sshLogins(t, "127.0.0.1", s.Key, s.HostKey, ""), false},
		{"another host key", url, "none of those that are configured", sshLogins(t, s.Address, s.Key, other.HostKey, ""), false},
		{"a host key of another type", url, "no common algorithm for host key", sshLogins(t, s.Address, s.Key, rsaHostKey, ""), false},
		{"another key", url, "unable to authenticate", sshLogins(t, s.Address, other.Key, s.HostKey, ""), false},
		{"another user", "ssh://root@" + s.Address + "/org/repo", `the user "root"`, good, false},
		{"a private address", url, "an address of this host", good, true},
		{"a name of a private address", "ssh://git@localhost:" + port + "/org/repo", "an address of this host", sshLogins(t, "localhost:"+port, s.Key, s.HostKey, ""), true},
		{"a password", "ssh://git:secret@" + s.Address + "/org/repo", "without a password", good, false},
		{"a query", url + "?ref=main", "a query", good, false},
		{"an option as a host", "ssh://-oProxyCommand=touch/repo", "", good, false},
		{"an option as a path", "git@github.com:--upload-pack=touch", "no path of a repository", sshLogins(t, "github.com", s.Key, s.HostKey, ""), false},
		{"no path", "ssh://git@" + s.Address + "/", "no path of a repository", good, false},
		{"two hosts", "ssh://git@" + s.Address + "#@github.com/org/repo", "", good, false},
	} {
		opts := Options{Credentials: test.logins}
		if !test.private {
			opts.Hosts = []string{s.Address}
		}
		client, _ := newClient(t, opts)
		before := len(s.Requests())
		_, err := client.Resolve(t.Context(), git(test.url, "main"))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one with %q", test.name, err, test.want)
		}
		if address := new(AddressError); test.private != errors.As(err, &address) {
			t.Errorf("%s: %v", test.name, err)
		}
		for _, asked := range s.Requests()[before:] {
			if asked != "connection" || test.private {
				t.Errorf("%s: the server hears %q", test.name, asked)
			}
		}
	}
}

func httpsLogin(t *testing.T, host string) *Credentials {
	t.Helper()
	logins, err := ParseLogins(host + " token")
	if err != nil {
		t.Fatal(err)
	}
	return logins
}

// rsaHostKey is a key that no host has.
const rsaHostKey = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQCj7ndNxQowgcQnjshcLrqPEiiphnt+VTTvDP6mHBL9j1aNUkY4Ue1gvwnGLVlOhGeYrnZaMgRK6+PKCUXaDbC7qtbW8gIkhL7aGCsOr/C56SJMy/BCZfxd1nWzAOxSDPgVsmerOBYfNqltV9/hWCqBywINIR+5dIg6JTJ72pcEpEjcYgXkE2YEFXV1JHnsKgbLWNlhScqb2UmyRkQyytRLtL+38TGxkxCflmO+5Z8CSSNY7GidjMIZ7Q4zMjA2n1nGrlTDkzwDCsw+wqFPGQA179cnfGWOWRVruj16z6XyvxvjJwbz0wQZ75XK5tKSb7FNyeIEs4TT4jk+S4dhPeAUC5y+bDYirYgM4GC7uEnztnZyaVWQ7B381AK4Qdrwt51ZqExKbQpTUNn+EjqoTwvqNj4kqx5QUCI0ThS/YkOxJCXmPUWZbhjpCg56i+2aB6CmK2JGhn57K5mj0MNdBXA4/WnwH6XoPWJzK5Nyu2zB3nAZp+S5hpQs+p1vN1/wsjk="

// TestSSHHostile checks that a hostile server does not exceed the limits.
func TestSSHHostile(t *testing.T) {
	limits := Limits{Time: 5 * time.Second, Stall: 500 * time.Millisecond, Answer: 1 << 20}
	endless := func(w io.Writer, text string) {
		for line := strings.Repeat(text, 1000); ; {
			if _, err := io.WriteString(w, line); err != nil {
				return
			}
		}
	}
	for name, test := range map[string]struct {
		handle func(command string, c ssh.Channel)
		want   string
	}{
		"silence": {func(_ string, c ssh.Channel) { time.Sleep(10 * time.Second) }, "sends nothing for too long"},
		"an endless list": {func(_ string, c ssh.Channel) {
			_, _ = io.WriteString(c, "0042"+strings.Repeat("a", 40)+" refs/heads/x\x00shallow\n")
			endless(c, "0040"+strings.Repeat("a", 40)+" refs/heads/aaaaaaa\n")
		}, "more than 1048576 bytes"},
		"endless errors":      {func(_ string, c ssh.Channel) { endless(c.Stderr(), "no\n") }, "the server sends too much"},
		"no git":              {func(_ string, c ssh.Channel) { _, _ = io.WriteString(c, "hello\n") }, ""},
		"escape sequences":    {func(_ string, c ssh.Channel) { _, _ = io.WriteString(c.Stderr(), "\x1b[2Jno\nsuch thing") }, "the server says: [2Jno such thing"},
		"the end":             {func(_ string, c ssh.Channel) {}, ""},
		"an empty repository": {func(_ string, c ssh.Channel) { _, _ = io.WriteString(c, "0000") }, "empty"},
		"a pack of other bytes": {func(_ string, c ssh.Channel) {
			_, _ = io.WriteString(c, "004d"+strings.Repeat("a", 40)+" refs/heads/main\x00shallow side-band-64k\n0000")
			_, _ = c.Read(make([]byte, 1<<10))
			_, _ = io.WriteString(c, "0008NAK\n0009\x01PAC0000")
		}, ""},
	} {
		s, _ := sshServer(t)
		s.Handle = test.handle
		client, _ := newClient(t, Options{Hosts: []string{s.Address}, Limits: limits, Credentials: sshLogins(t, s.Address, s.Key, s.HostKey, "")})
		start := time.Now()
		_, err := client.Resolve(t.Context(), git("ssh://git@"+s.Address+"/org/repo", "main"))
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%s: error %q, want one with %q", name, err, test.want)
		}
		if took := time.Since(start); took > 2*limits.Time {
			t.Errorf("%s takes %s", name, took)
		}
	}
}

// TestSSHD checks each type of key with OpenSSH's server.
func TestSSHD(t *testing.T) {
	program, err := exec.LookPath("sshd")
	if err != nil {
		if program = "/usr/sbin/sshd"; !exists(program) {
			t.Skip("sshd is not installed")
		}
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	if me.Uid == "0" { // sshd needs the directory
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Skip(err)
		}
	}
	_, h := sshServer(t)
	dir := t.TempDir()
	for _, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		host, key := filepath.Join(dir, kind), filepath.Join(dir, "user-"+kind)
		for _, file := range []string{host, key} {
			if out, err := exec.Command("ssh-keygen", "-q", "-t", kind, "-N", "", "-f", file).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		at := listener.Addr().(*net.TCPAddr)
		_ = listener.Close()
		ctx, cancel := context.WithCancel(t.Context())
		cmd := exec.CommandContext(ctx, program, "-D", "-e", "-f", "/dev/null", "-h", host,
			"-o", "ListenAddress=127.0.0.1", "-o", fmt.Sprint("Port=", at.Port), "-o", "PidFile=none", "-o", "UsePAM=no", "-o", "StrictModes=no",
			"-o", "PermitRootLogin=yes", "-o", "PasswordAuthentication=no", "-o", "AuthorizedKeysFile="+key+".pub")
		var said strings.Builder
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for range 100 {
			if conn, err := net.Dial("tcp", at.String()); err == nil {
				_ = conn.Close()
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		logins := sshLogins(t, at.String(), read(t, key), strings.TrimSpace(read(t, host+".pub")), "  sshUser: "+me.Username+"\n")
		client, _ := newClient(t, Options{Hosts: []string{at.String()}, Credentials: logins})
		pin, err := client.Resolve(t.Context(), git(fmt.Sprintf("ssh://%s@%s%s", me.Username, at, h.Dir), "main"))
		cancel()
		_ = cmd.Wait()
		if err != nil || pin.Commit != h.Base {
			t.Errorf("%s: %+v, %v\n%s", kind, pin, err, said.String())
		}
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestParseSSHMistakes(t *testing.T) {
	s, _ := sshServer(t)
	locked := filepath.Join(t.TempDir(), "locked")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "words", "-f", locked).CombinedOutput(); err != nil {
		t.Skipf("ssh-keygen: %v: %s", err, out)
	}
	vars := map[string]string{"KEY": s.Key, "LOCKED": read(t, locked), "TEXT": "secret words", "T": "token"}
	for text, want := range map[string]string{
		"sshKeyEnv: KEY, hostKeys: ['" + s.HostKey + "']":                        "",
		"sshKeyEnv: KEY, tokenEnv: T, hostKeys: ['" + s.HostKey + " a comment']": "",
		"sshKeyEnv: KEY": "which keys does the host have?",
		"sshKeyEnv: NONE, hostKeys: ['" + s.HostKey + "']":                             "the variable NONE is not set",
		"sshKeyEnv: LOCKED, hostKeys: ['" + s.HostKey + "']":                           "has a passphrase",
		"sshKeyEnv: TEXT, hostKeys: ['" + s.HostKey + "']":                             "no private key",
		"sshKeyEnv: KEY, hostKeys: ['example.com " + s.HostKey + "']":                  "want TYPE KEY",
		"sshKeyEnv: KEY, hostKeys: ['ssh-ed25519 AAAA']":                               "want TYPE KEY",
		"tokenEnv: T, hostKeys: ['" + s.HostKey + "']":                                 "needs sshKeyEnv",
		"tokenEnv: T, sshUser: git":                                                    "needs sshKeyEnv",
		"sshKeyEnv: KEY, tokenEnv: T, passwordEnv: T, hostKeys: ['" + s.HostKey + "']": "give one of",
	} {
		_, err := ParseCredentials("c.yaml", []byte("hosts: [{host: a, "+text+"}]"), func(name string) string { return vars[name] })
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret words") {
			t.Errorf("%s: the key is in %v", text, err)
		}
	}
	key := base64.StdEncoding.EncodeToString([]byte(s.Key))
	for line, want := range map[string]string{
		"a ssh " + s.HostKey + " " + key + "\na token":                        "",
		"a ssh " + s.HostKey + " " + key + "\na ssh " + s.HostKey + " " + key: "line 2",
		"a ssh " + s.HostKey + " secret":                                      "not in base64",
		"a ssh " + s.HostKey + " c2VjcmV0":                                    "no private key",
		"a ssh ssh-rsa nonsense " + key:                                       "want TYPE KEY",
		"a ssh one two three four":                                            "not 6 words",
	} {
		_, err := ParseLogins(line)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: error %v, want %q", line, err, want)
		}
	}
}
