//go:build linux

package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// clientsVar is the folder of what ssh and docker on this machine know of all racks. Racks
// that are up at the same time have no environment of their own.
const clientsVar = "AQMLAB_E2E_CLIENTS"

// prepareClients has ssh read what racks tell it, in place of the user's own, and docker
// keep its contexts in a folder.
func prepareClients(dir string) error {
	ssh, err := exec.LookPath("ssh")
	if err != nil {
		return nil // and no rack
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"ssh_config": "Include " + dir + "/*.rack\n",
		"ssh":        fmt.Sprintf("#!/bin/sh\nexec %s -F %s/ssh_config \"$@\"\n", ssh, dir),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			return err
		}
	}
	return errors.Join(os.Setenv(clientsVar, dir), os.Setenv("PATH", dir+":"+os.Getenv("PATH")), os.Setenv("DOCKER_CONFIG", filepath.Join(dir, "docker")))
}

// makeKeys makes what the machines know their user by: a key for ssh, and a certificate.
// Programs that are called ssh use that key, and know the machines' own.
func (r *rack) makeKeys() {
	r.t.Helper()
	if err := os.Mkdir(r.path("tls"), 0o700); err != nil {
		r.t.Fatal(err)
	}
	r.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", r.path("id"))
	a := r.prefix.Addr().As4()
	config := filepath.Join(os.Getenv(clientsVar), r.id+".rack")
	r.t.Cleanup(func() { _ = os.Remove(config) })
	text := fmt.Sprintf(`Host %[2]d.%[3]d.%[4]d.*
  IdentityFile %[1]s/id
  IdentitiesOnly yes
  IdentityAgent none
  UserKnownHostsFile %[1]s/known_hosts
  GlobalKnownHostsFile none
  StrictHostKeyChecking yes
`, r.dir, a[0], a[1], a[2])
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	newAuthority(r.t, r.path("tls")).issue(r.path("tls"), nil)
}

func (r *rack) path(name string) string { return filepath.Join(r.dir, name) }

// sshd is the configuration of a machine's ssh server.
func (r *rack) sshd(m *rackMachine) string {
	return fmt.Sprintf(`ListenAddress %s
HostKey %s/host
AuthorizedKeysFile %s/id.pub
StrictModes no
UsePAM no
PidFile none
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin yes
`, m.Address, m.dir, r.dir)
}

// makeServerKey makes what the user knows a machine by.
func (r *rack) makeServerKey(m *rackMachine) {
	r.t.Helper()
	r.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", m.dir+"/host")
	key, err := os.ReadFile(m.dir + "/host.pub")
	if err != nil {
		r.t.Fatal(err)
	}
	known, err := os.OpenFile(r.path("known_hosts"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		r.t.Fatal(err)
	}
	defer known.Close()
	if _, err := fmt.Fprintf(known, "%s %s", m.Address, key); err != nil {
		r.t.Fatal(err)
	}
	openAuthority(r.t, r.path("tls")).issue(m.dir, m.Address.AsSlice())
}

// authority signs certificates.
type authority struct {
	t    testing.TB
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

// newAuthority makes one, whose certificate and key are in a folder.
func newAuthority(t testing.TB, dir string) authority {
	t.Helper()
	a := authority{t, newKey(t), &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "rack"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}}
	signed := a.sign(a.cert, &a.key.PublicKey)
	a.write(filepath.Join(dir, "ca.pem"), "CERTIFICATE", signed)
	a.write(filepath.Join(dir, "ca.key"), "EC PRIVATE KEY", a.encode(a.key))
	return a
}

// openAuthority is the one in a folder.
func openAuthority(t testing.TB, dir string) authority {
	t.Helper()
	a := authority{t: t}
	read := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		block, _ := pem.Decode(text)
		return block.Bytes
	}
	var err error
	if a.cert, err = x509.ParseCertificate(read("ca.pem")); err != nil {
		t.Fatal(err)
	}
	if a.key, err = x509.ParseECPrivateKey(read("ca.key")); err != nil {
		t.Fatal(err)
	}
	return a
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// issue writes a certificate and its key into a folder: of the server at an address, or
// without one of a user.
func (a authority) issue(dir string, at net.IP) {
	a.t.Helper()
	key := newKey(a.t)
	c := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), NotAfter: time.Now().Add(time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	if at != nil {
		c.IPAddresses, c.ExtKeyUsage = []net.IP{at}, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	}
	a.write(filepath.Join(dir, "cert.pem"), "CERTIFICATE", a.sign(c, &key.PublicKey))
	a.write(filepath.Join(dir, "key.pem"), "EC PRIVATE KEY", a.encode(key))
}

func (a authority) sign(c *x509.Certificate, of *ecdsa.PublicKey) []byte {
	a.t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, c, a.cert, of, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	return der
}

func (a authority) encode(key *ecdsa.PrivateKey) []byte {
	a.t.Helper()
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	return der
}

func (a authority) write(path, what string, der []byte) {
	a.t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: what, Bytes: der}), 0o600); err != nil {
		a.t.Fatal(err)
	}
}
