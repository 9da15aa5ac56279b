package fetch

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/preadmit/preadmit/internal/strictyaml"
)

// SSHLogin has the credentials for an SSH server, and the server's keys.
type SSHLogin struct {
	// User is the only user that URLs may name.
	User string
	Key  ssh.Signer
	// HostKeys are the keys that the host may have.
	HostKeys []ssh.PublicKey
}

// gitUser is the usual user name at git servers.
const gitUser = "git"

// ssh returns the login for SSH to a host; nil without one.
func (c *Credentials) ssh(host string) *SSHLogin {
	if c == nil {
		return nil
	}
	return c.hosts[strings.ToLower(strings.TrimSuffix(host, ":22"))].SSH
}

// parseKey parses a private key.
func parseKey(text string) (ssh.Signer, error) {
	key, err := ssh.ParsePrivateKey([]byte(text))
	if locked := new(ssh.PassphraseMissingError); errors.As(err, &locked) {
		return nil, errors.New("the private key has a passphrase: give one without, that may read the repositories and nothing else")
	}
	if err != nil {
		return nil, errors.New("it is no private key as ssh-keygen writes it")
	}
	return key, nil
}

// parseHostKey parses the key of a host: TYPE KEY.
func parseHostKey(text string) (ssh.PublicKey, error) {
	key, _, options, rest, err := ssh.ParseAuthorizedKey([]byte(text))
	if err != nil || len(options) > 0 || len(rest) > 0 {
		return nil, errors.New("it is no key of a host: want TYPE KEY, as ssh-keyscan prints them behind the name of the host")
	}
	if _, ok := key.(*ssh.Certificate); ok || !slices.Contains(ssh.SupportedAlgorithms().PublicKeyAuths, algorithms(key)[0]) {
		return nil, fmt.Errorf("a key of the type %s is not taken", key.Type())
	}
	return key, nil
}

// algorithms returns the signature algorithms for a host key.
func algorithms(key ssh.PublicKey) []string {
	if key.Type() == ssh.KeyAlgoRSA {
		return []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256}
	}
	return []string{key.Type()}
}

// checkSSH reports the mistakes in the fields for SSH of an entry.
func (h hostEntry) checkSSH(document *strictyaml.Document, i int, getenv func(string) string) {
	switch {
	case h.SSHKeyEnv == "" && h.SSHUser != "":
		document.Fail(hostField(i, "sshUser"), "is for SSH, which needs sshKeyEnv")
	case h.SSHKeyEnv == "" && len(h.HostKeys) > 0:
		document.Fail(hostField(i, "hostKeys"), "are for SSH, which needs sshKeyEnv")
	case h.SSHKeyEnv == "":
	case getenv(h.SSHKeyEnv) == "":
		document.Fail(hostField(i, "sshKeyEnv"), "the variable %s is not set", h.SSHKeyEnv)
	case len(h.HostKeys) == 0:
		document.Fail(hostField(i, "sshKeyEnv"), "which keys does the host have? Give hostKeys: ssh-keyscan %s prints them; compare them with what who runs the host says", h.Host)
	}
}

// sshLogin returns the credentials for SSH of an entry.
func (h hostEntry) sshLogin(document *strictyaml.Document, i int, key string) *SSHLogin {
	login := &SSHLogin{User: h.SSHUser}
	if login.User == "" {
		login.User = gitUser
	}
	var err error
	if key != "" {
		if login.Key, err = parseKey(key); err != nil {
			document.Fail(hostField(i, "sshKeyEnv"), "%s: %v", h.SSHKeyEnv, err)
		}
	}
	for n, text := range h.HostKeys {
		known, err := parseHostKey(text)
		if err != nil {
			document.Fail(fmt.Sprintf("%s[%d]", hostField(i, "hostKeys"), n), "%v", err)
			continue
		}
		login.HostKeys = append(login.HostKeys, known)
	}
	return login
}

// sshLoginOfLine returns a login with a host key and a private key in base64.
func sshLoginOfLine(hostKey, key string) (*SSHLogin, error) {
	text, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		return nil, errors.New("the private key is not in base64")
	}
	login := &SSHLogin{User: gitUser}
	if login.Key, err = parseKey(string(text)); err != nil {
		return nil, err
	}
	known, err := parseHostKey(hostKey)
	if err != nil {
		return nil, err
	}
	login.HostKeys = []ssh.PublicKey{known}
	return login, nil
}
