package machines

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"aqmlab/labs/inventory"
)

// UnreachableError says why the Docker daemon of a machine cannot be called.
type UnreachableError struct {
	Machine  string
	Endpoint string
	Problem  string
	Remedy   string // what to do
	Err      error  // how that was found
}

// Error says what to do.
func (e *UnreachableError) Error() string {
	return fmt.Sprintf("machine %s (%s): %s: %s (%v)", e.Machine, e.Endpoint, e.Problem, e.Remedy, e.Err)
}

// Unwrap returns how it was found.
func (e *UnreachableError) Unwrap() error { return e.Err }

// symptom is words of an error that tell one cause from the others. In the remedy, ENDPOINT
// and HOST stand for the daemon's, and LOGIN for the words that ssh is called with.
type symptom struct {
	scheme          string // of the endpoint; empty: any
	words           []string
	problem, remedy string
}

// symptoms are tried in their order. What ssh and the docker command that it runs print is
// all that tells of what went wrong at the other end; neither translates it.
func symptoms() []symptom {
	const (
		ssh, tcp, unix = inventory.SSH, inventory.TCP, inventory.Unix
		login          = "LOGIN docker version must answer without a question"
		group          = "use root, or a user of the group docker"
	)
	return []symptom{
		{ssh, []string{`"ssh": executable file not found`}, "there is no ssh program on this machine", "install it (Debian: apt-get install openssh-client)"},
		{ssh, []string{"Host key verification failed"}, "ssh does not know its host key, or knows another one", "compare the key, and accept it: LOGIN"},
		{ssh, []string{"Permission denied ("}, "it refuses our key", "have it accept one (ssh-copy-id), and ssh find it (ssh-agent, IdentityFile in ~/.ssh/config): " + login},
		{ssh, []string{"docker: command not found", "docker: not found", "docker: No such file"}, "there is no docker program on it, or not on the PATH of ssh", "install it there (Debian: apt-get install docker.io): " + login},
		{ssh, []string{"permission denied while trying to connect", "connect: permission denied"}, "the user may not call its Docker daemon", group},
		{ssh, []string{"Could not resolve hostname"}, "its name is unknown", "see the key docker of the machine, and ~/.ssh/config"},
		{ssh, []string{"Connection refused", "Connection timed out", "Operation timed out", "No route to host", "Network is unreachable", "Connection closed by", "kex_exchange_identification"},
			"nobody can log in there", "start its ssh server (Debian: apt-get install openssh-server), and see that its port is open: " + login},
		{ssh, []string{"Cannot connect to the Docker daemon", "failed to connect to the docker API", "dial unix"}, "no Docker daemon answers there", "start it on that machine (systemctl start docker)"},
		{ssh, []string{""}, "no answer over ssh", login},

		{tcp, []string{"failed to verify certificate"}, "we refuse its certificate", "ca.pem in the folder of the key tls must be of the authority that has signed it, and it must be for HOST"},
		{tcp, []string{"remote error: tls", "TLS client certi"}, "it refuses our certificate", "cert.pem in the folder of the key tls must be signed by the authority that the daemon was started with (--tlscacert)"},
		{tcp, []string{"HTTP response to HTTPS client", "first record does not look like a TLS handshake"}, "its Docker daemon speaks no TLS", "start it with --tlsverify, or leave out the key tls, where everybody who reaches the port may be trusted"},
		{tcp, []string{"HTTP request to an HTTPS server", "malformed HTTP response"}, "its Docker daemon speaks TLS", "name the folder of the certificates in the key tls"},
		{tcp, []string{""}, "no Docker daemon answers", "start it on that machine (dockerd --host ENDPOINT --tlsverify), and see that its port is open"},

		{unix, []string{"permission denied"}, "you may not call its Docker daemon", group},
		{unix, []string{""}, "no Docker daemon answers", "start it (systemctl start docker), or install it (Debian: apt-get install docker.io)"},
		{"", []string{""}, "no Docker daemon answers", "see docker context ls"},
	}
}

// diagnose says why a daemon did not answer.
func diagnose(m inventory.Machine, endpoint string, err error) error {
	scheme := inventory.Machine{Docker: endpoint}.Scheme()
	all := symptoms()
	i := slices.IndexFunc(all, func(s symptom) bool {
		return (s.scheme == scheme || s.scheme == "") && slices.ContainsFunc(s.words, func(words string) bool { return strings.Contains(err.Error(), words) })
	})
	e := &UnreachableError{Machine: m.Name, Endpoint: m.Docker, Problem: all[i].problem, Remedy: fill(all[i].remedy, endpoint), Err: err}
	if endpoint != m.Docker {
		e.Endpoint += ", " + endpoint
	}
	return e
}

// noWay is for what does not even make a client, and says where to mend it.
func noWay(m inventory.Machine, err error) error {
	e := &UnreachableError{Machine: m.Name, Endpoint: m.Docker, Problem: "no way to its Docker daemon", Remedy: "see the key docker of the machine", Err: err}
	switch {
	case m.TLS != "":
		e.Remedy = "see that ca.pem, cert.pem and key.pem in " + m.TLS + " are those of this daemon, and can be read"
	case m.Scheme() == inventory.Context:
		e.Remedy = "see docker context ls, and docker context inspect " + m.Docker
	}
	return e
}

// fill puts an endpoint into a remedy.
func fill(remedy, endpoint string) string {
	host, login := endpoint, "ssh"
	if u, err := url.Parse(endpoint); err == nil {
		host = u.Hostname()
		if u.Port() != "" {
			login += " -p " + u.Port()
		}
		if u.User != nil {
			login += " " + u.User.Username() + "@" + host
		} else {
			login += " " + host
		}
	}
	return strings.NewReplacer("ENDPOINT", endpoint, "HOST", host, "LOGIN", login).Replace(remedy)
}
