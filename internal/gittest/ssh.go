package gittest

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"io"
	"net"
	"os/exec"
	"strings"
	"sync"

	"golang.org/x/crypto/ssh"
)

// SSHServer serves git repositories over SSH: it runs the client's command, usually
// git-upload-pack, in a directory.
type SSHServer struct {
	// Address is its address, HostKey its key in the format of known_hosts: TYPE KEY.
	Address, HostKey string
	// Key is the only accepted private key, in the format of ssh-keygen.
	Key string
	// Handle, if it is set before the first connection, replaces the execution of commands.
	Handle func(command string, channel ssh.Channel)

	root     string
	listener net.Listener
	config   *ssh.ServerConfig

	mu       sync.Mutex
	requests []string
}

// NewSSHServer serves the repositories below root. The caller must call Close.
func NewSSHServer(root string) (*SSHServer, error) {
	_, host, err := newKey()
	if err != nil {
		return nil, err
	}
	text, client, err := newKey()
	if err != nil {
		return nil, err
	}
	s := &SSHServer{root: root, Key: text, HostKey: strings.TrimSpace(string(ssh.MarshalAuthorizedKey(host.PublicKey())))}
	s.config = &ssh.ServerConfig{PublicKeyCallback: func(c ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if c.User() != "git" || string(key.Marshal()) != string(client.PublicKey().Marshal()) {
			return nil, io.ErrUnexpectedEOF
		}
		return nil, nil
	}}
	s.config.AddHostKey(host)
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	s.Address = s.listener.Addr().String()
	go s.serve()
	return s, nil
}

// newKey generates a private key.
func newKey() (text string, key ssh.Signer, err error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", nil, err
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		return "", nil, err
	}
	key, err = ssh.NewSignerFromKey(private)
	return string(pem.EncodeToMemory(block)), key, err
}

// Close stops the server.
func (s *SSHServer) Close() { _ = s.listener.Close() }

// Requests returns the requests so far: each connection, and each request in one with its
// command.
func (s *SSHServer) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.requests...)
}

func (s *SSHServer) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, text)
}

func (s *SSHServer) serve() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.note("connection")
		go func() {
			defer conn.Close()
			_, channels, requests, err := ssh.NewServerConn(conn, s.config)
			if err != nil {
				return
			}
			go ssh.DiscardRequests(requests)
			for offered := range channels {
				if channel, requests, err := offered.Accept(); err == nil {
					go s.session(channel, requests)
				}
			}
		}()
	}
}

// session runs the command of a session.
func (s *SSHServer) session(channel ssh.Channel, requests <-chan *ssh.Request) {
	defer channel.Close()
	for req := range requests {
		var exec struct{ Command string }
		_ = ssh.Unmarshal(req.Payload, &exec)
		s.note(req.Type + " " + exec.Command)
		_ = req.Reply(req.Type == "exec", nil)
		if req.Type != "exec" {
			continue
		}
		if s.Handle != nil {
			s.Handle(exec.Command, channel)
			return
		}
		status := struct{ Status uint32 }{s.run(exec.Command, channel)}
		_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(&status))
		return
	}
}

// run runs a command in a shell, like sshd. An absolute path is interpreted below the directory.
func (s *SSHServer) run(command string, channel ssh.Channel) uint32 {
	command = strings.Replace(command, " '/", " '"+s.root+"/", 1)
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = s.root
	cmd.Env = []string{
		"PATH=/usr/bin:/bin", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_COUNT=2",
		"GIT_CONFIG_KEY_0=uploadpack.allowAnySHA1InWant", "GIT_CONFIG_VALUE_0=true",
		"GIT_CONFIG_KEY_1=safe.directory", "GIT_CONFIG_VALUE_1=*",
	}
	cmd.Stdout, cmd.Stderr = channel, channel.Stderr()
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return 127
	}
	go func() {
		_, _ = io.Copy(in, channel)
		_ = in.Close()
	}()
	if cmd.Wait() != nil {
		return 1
	}
	return 0
}
