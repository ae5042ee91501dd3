package machines

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aqmlab/kind"
	"aqmlab/labs/inventory"
)

// fails calls a daemon that does not answer, and wants its error to say why.
func fails(t *testing.T, m inventory.Machine, words ...string) error {
	t.Helper()
	m.Name = "m1"
	c, err := Client(t.Context(), m)
	if err == nil {
		t.Fatal("it answers", c.Close())
	}
	var unreachable *UnreachableError
	if !errors.As(err, &unreachable) || unreachable.Machine != "m1" || unreachable.Remedy == "" {
		t.Errorf("%v: want an error that says what to do", err)
	}
	for _, want := range append(words, "machine m1", m.Docker) {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q", err, want)
		}
	}
	return err
}

// TestNoDaemon: nobody listens at a socket, or at a port.
func TestNoDaemon(t *testing.T) {
	fails(t, inventory.Machine{Docker: "unix://" + filepath.Join(t.TempDir(), "docker.sock")}, "no Docker daemon answers", "systemctl start docker")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	endpoint := "tcp://" + l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	fails(t, inventory.Machine{Docker: endpoint}, "no Docker daemon answers", "dockerd --host "+endpoint)
	dir := t.TempDir()
	fails(t, inventory.Machine{Docker: endpoint, TLS: dir}, "ca.pem, cert.pem and key.pem in "+dir)
}

// TestNoSSH: there is no ssh program on this machine.
func TestNoSSH(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	fails(t, inventory.Machine{Docker: "ssh://root@192.0.2.1"}, "no ssh program on this machine", "openssh-client")
}

// TestContexts: a context is looked up where the docker command keeps it.
func TestContexts(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("DOCKER_CONFIG", dir)
	socket := "unix://" + filepath.Join(dir, "docker.sock")
	t.Setenv("DOCKER_HOST", socket)
	fails(t, inventory.Machine{Docker: "default"}, "no Docker daemon answers", socket)
	// The folder of a context is named by the SHA-256 of its name: printf %s rack | sha256sum.
	meta := filepath.Join(dir, "contexts/meta/8e9d1a8d5b1863f1e99ed1bd8a1b7bd1ea8e19f704f5859adbcf5cdce5ca7cd9")
	if err := os.MkdirAll(meta, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("DOCKER_HOST", "")
	for endpoints, want := range map[string]string{
		`{"docker":{"Host":"` + socket + `","SkipTLSVerify":false}}`:              socket,
		`{"docker":{"Host":"http://127.0.0.1:1","SkipTLSVerify":false}}`:          "http://127.0.0.1:1",
		`{"docker":{"Host":"tcp://127.0.0.1:1","SkipTLSVerify":true}}`:            "skip-tls-verify",
		`{"kubernetes":{"Host":"https://127.0.0.1:1"}}`:                           "names no Docker daemon",
		`{"docker":{"Host":"ssh://me:secret@127.0.0.1:1","SkipTLSVerify":false}}`: "password",
	} {
		text := `{"Name":"rack","Metadata":{},"Endpoints":` + endpoints + `}`
		if err := os.WriteFile(filepath.Join(meta, "meta.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		fails(t, inventory.Machine{Docker: "rack"}, want)
	}
	err := fails(t, inventory.Machine{Docker: "rock"}, `unknown Docker context "rock": want one of default, rack (did you mean rack?)`, "docker context ls")
	if !errors.Is(err, kind.ErrUnknown) {
		t.Errorf("%v does not wrap ErrUnknown", err)
	}
}

// TestInterrupted: a call that nobody waits for any more ends.
func TestInterrupted(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // accepts, and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Client(ctx, inventory.Machine{Name: "m1", Docker: "tcp://" + l.Addr().String()}); !errors.Is(err, context.Canceled) || errors.As(err, new(*UnreachableError)) {
		t.Errorf("%v, want that it was cancelled, and nothing about the machine", err)
	}
}
