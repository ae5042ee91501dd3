package machines

import (
	"testing"

	"aqmlab/labs/inventory"
)

// TestCommand: the docker command has an option for each way to a daemon (docker --help).
func TestCommand(t *testing.T) {
	for want, m := range map[string]inventory.Machine{
		"docker --host ssh://root@192.0.2.1":    {Docker: "ssh://root@192.0.2.1"},
		"docker --host unix:///run/docker.sock": {Docker: "unix:///run/docker.sock"},
		"docker --context lab":                  {Docker: "lab"},
		"docker --host tcp://a:2376 --tlsverify --tlscacert /keys/ca.pem --tlscert /keys/cert.pem --tlskey /keys/key.pem": {Docker: "tcp://a:2376", TLS: "/keys"},
	} {
		if got := Command(m); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
