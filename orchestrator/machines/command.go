package machines

import (
	"path/filepath"

	"aqmlab/labs/inventory"
)

// Command is how the docker command of this machine is called for the daemon of another one.
func Command(m inventory.Machine) string {
	if m.Scheme() == inventory.Context {
		return "docker --context " + m.Docker
	}
	words := "docker --host " + m.Docker
	if m.TLS == "" {
		return words
	}
	file := func(name string) string { return filepath.Join(m.TLS, name) }
	return words + " --tlsverify --tlscacert " + file("ca.pem") + " --tlscert " + file("cert.pem") + " --tlskey " + file("key.pem")
}
