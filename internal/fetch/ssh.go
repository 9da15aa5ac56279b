package fetch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/crypto/ssh"
)

// sshURL is the URL of a repository on an SSH server.
type sshURL struct {
	user, host, port, path string
}

// address returns the host with its port.
func (u sshURL) address() string { return net.JoinHostPort(u.host, u.port) }

// parseSSH parses ssh://USER@HOST:PORT/PATH and USER@HOST:PATH like git.
func parseSSH(text string) (u sshURL, err error) {
	u = sshURL{user: gitUser, port: "22"}
	if !strings.HasPrefix(text, "ssh://") {
		before, after, _ := strings.Cut(text, ":")
		u.host, u.path = before, after
		if i := strings.LastIndex(before, "@"); i >= 0 {
			u.user, u.host = before[:i], before[i+1:]
		}
		return u, u.check(text)
	}
	parsed, err := url.Parse(text)
	if err != nil {
		return u, fmt.Errorf("%s is no URL", text)
	}
	if _, ok := parsed.User.Password(); ok || parsed.RawQuery != "" || parsed.Fragment != "" {
		return u, errors.New("want a URL like ssh://git@HOST/REPOSITORY, without a password and a query")
	}
	u.user = cmp.Or(parsed.User.Username(), u.user)
	u.host, u.port, u.path = parsed.Hostname(), cmp.Or(parsed.Port(), u.port), parsed.Path
	if strings.HasPrefix(u.path, "/~") { // a user's home directory
		u.path = u.path[1:]
	}
	return u, u.check(text)
}

// check rejects a host or path that could be interpreted as something else, such as an option.
func (u sshURL) check(text string) error {
	odd := func(r rune) bool { return r != '-' && r != '.' && r != ':' && r != '_' && !isAlphanumeric(r) }
	switch {
	case u.host == "" || strings.HasPrefix(u.host, "-") || strings.ContainsFunc(u.host, odd):
		return fmt.Errorf("%s has no name of a host", text)
	case u.path == "" || u.path == "/" || strings.HasPrefix(u.path, "-") || strings.ContainsFunc(u.path, unicode.IsControl):
		return fmt.Errorf("%s has no path of a repository", text)
	}
	return nil
}

func isAlphanumeric(r rune) bool {
	return r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// quote quotes a text as one word of a shell.
func quote(text string) string {
	return "'" + strings.NewReplacer("'", `'\''`, "!", `'\!'`).Replace(text) + "'"
}

// uploadPack returns a function that runs git-upload-pack on a host whose login is configured.
func (c *Client) uploadPack(at sshURL) (func(context.Context) (io.ReadWriteCloser, error), error) {
	name := at.host
	if at.port != "22" {
		name = at.address()
	}
	login := c.http.logins.ssh(name)
	if login == nil {
		return nil, fmt.Errorf("no key is configured for SSH to %s: give sshKeyEnv and hostKeys in --credentials, or the URL with https", name)
	}
	if at.user != login.User {
		return nil, fmt.Errorf("the URL names the user %q of %s, and the key that is configured is for %q", at.user, name, login.User)
	}
	return func(ctx context.Context) (io.ReadWriteCloser, error) {
		if err := c.http.count(); err != nil {
			return nil, err
		}
		conn, err := c.http.dial(ctx, "tcp", at.address())
		if err != nil {
			return nil, err
		}
		s := &sshStream{conn: &patientConn{Conn: conn, stall: c.limits.Stall, left: c.limits.Answer + overhead}}
		s.stop = context.AfterFunc(ctx, func() { s.conn.end(context.Cause(ctx)) })
		if err := s.start(at, login); err != nil {
			_ = s.Close()
			return nil, cmp.Or(s.conn.ended(), err)
		}
		return s, nil
	}, nil
}

// config returns the configuration of a connection: with one key, to a host with one of its known keys.
func (l *SSHLogin) config(host string) *ssh.ClientConfig {
	config := &ssh.ClientConfig{
		User: l.User, Auth: []ssh.AuthMethod{ssh.PublicKeys(l.Key)}, ClientVersion: "SSH-2.0-preadmit",
		HostKeyCallback: func(_ string, _ net.Addr, key ssh.PublicKey) error {
			for _, known := range l.HostKeys {
				if bytes.Equal(known.Marshal(), key.Marshal()) {
					return nil
				}
			}
			return fmt.Errorf("%s has the key %s %s, which is none of those that are configured: it may be another host", host, key.Type(), ssh.FingerprintSHA256(key))
		},
	}
	for _, key := range l.HostKeys {
		for _, name := range algorithms(key) {
			if !slices.Contains(config.HostKeyAlgorithms, name) {
				config.HostKeyAlgorithms = append(config.HostKeyAlgorithms, name)
			}
		}
	}
	return config
}

// sshStream is the input and output of a program on a host.
type sshStream struct {
	conn    *patientConn
	stop    func() bool
	client  *ssh.Client
	session *ssh.Session
	in      io.WriteCloser
	out     io.Reader
	said    firstBytes
	wait    func() error
}

// start runs git-upload-pack.
func (s *sshStream) start(at sshURL, login *SSHLogin) error {
	under, channels, requests, err := ssh.NewClientConn(s.conn, at.address(), login.config(at.host))
	if err != nil {
		return err
	}
	s.client = ssh.NewClient(under, channels, requests)
	if s.session, err = s.client.NewSession(); err != nil {
		return err
	}
	s.session.Stderr, s.wait = &s.said, sync.OnceValue(s.session.Wait)
	if s.in, err = s.session.StdinPipe(); err != nil {
		return err
	}
	if s.out, err = s.session.StdoutPipe(); err != nil {
		return err
	}
	return s.session.Start("git-upload-pack " + quote(at.path))
}

// Read implements io.Reader. At the end it returns why the connection was ended, or the error
// output of a failed program.
func (s *sshStream) Read(p []byte) (int, error) {
	n, err := s.out.Read(p)
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	failed := s.wait()
	if why := s.conn.ended(); why != nil {
		return n, why
	}
	if failed != nil {
		return n, fmt.Errorf("the server says: %s", cmp.Or(s.said.String(), failed.Error()))
	}
	return n, err
}

// Write implements io.Writer.
func (s *sshStream) Write(p []byte) (int, error) { return s.in.Write(p) }

// Close implements io.Closer.
func (s *sshStream) Close() error {
	s.stop()
	if s.client != nil {
		_ = s.client.Close()
	}
	return s.conn.Close()
}

// maxSaid is the maximum size of a server's error output in an error, in bytes.
const maxSaid = 300

// firstBytes keeps the beginning of its input.
type firstBytes struct{ kept []byte }

// Write implements io.Writer.
func (f *firstBytes) Write(p []byte) (int, error) {
	f.kept = append(f.kept, p[:min(len(p), maxSaid-len(f.kept))]...)
	return len(p), nil
}

// String returns the text on one line.
func (f *firstBytes) String() string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(string(f.kept), "?"), func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
}

// overhead is how many bytes a connection may have in addition to a response.
const overhead = 16 << 20

// patientConn limits how long a connection may be idle in either direction, and how much it
// receives.
type patientConn struct {
	net.Conn
	stall time.Duration
	left  int64

	mu  sync.Mutex
	why error // the reason of end
}

// end closes the connection, for a reason.
func (c *patientConn) end(why error) {
	c.mu.Lock()
	c.why = cmp.Or(c.why, why)
	c.mu.Unlock()
	_ = c.Conn.Close()
}

// ended returns the reason for which end closed the connection; nil if it did not.
func (c *patientConn) ended() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.why
}

// Read implements net.Conn.
func (c *patientConn) Read(p []byte) (int, error) {
	_ = c.SetReadDeadline(time.Now().Add(c.stall))
	n, err := c.Conn.Read(p)
	if c.left -= int64(n); c.left < 0 {
		c.end(errTooMuch)
		return 0, errTooMuch
	}
	return n, c.late(err)
}

// Write implements net.Conn.
func (c *patientConn) Write(p []byte) (int, error) {
	_ = c.SetWriteDeadline(time.Now().Add(c.stall))
	n, err := c.Conn.Write(p)
	return n, c.late(err)
}

// late ends a connection after a timeout.
func (c *patientConn) late(err error) error {
	if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
		c.end(errStalled)
	}
	return err
}

var errTooMuch = errors.New("the server sends too much")
