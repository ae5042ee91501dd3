//go:build linux

package e2e

import (
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"

	"aqmlab/labs/inventory"
)

// holdStarts is a way to a machine's daemon that passes all requests on but those to start a
// container: it says on asked that one has come, and keeps it waiting.
func (m *rackMachine) holdStarts(t *testing.T, socket string) (asked <-chan bool) {
	t.Helper()
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	came := make(chan bool, 1)
	pass := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "docker"})
	pass.Transport = &http.Transport{Dial: func(string, string) (net.Conn, error) {
		return net.Dial("unix", strings.TrimPrefix(m.Docker, "unix://"))
	}}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/start") {
			came <- true
			<-r.Context().Done()
			return
		}
		pass.ServeHTTP(w, r)
	})}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	t.Cleanup(func() {
		_ = server.Close() // what it holds is of processes that have ended
		<-done
	})
	return came
}

// killBeforeStart kills a check of machines between the making and the start of a container,
// which the next command removes.
func killBeforeStart(t *testing.T, r *rack) {
	m, socket := r.machines[1], r.path("held.sock")
	asked := m.holdStarts(t, socket)
	list := r.path("held.yaml")
	r.write(list, func(own inventory.Machine) inventory.Machine {
		if own.Name == m.Name {
			own.Docker, own.Socket = "unix://"+socket, "/run/docker.sock"
		}
		return own
	})
	c := command(t, plainVar, "machines", "check", "--machines", list)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	<-asked
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	if made := m.output(t, "ps", "--all", "--format", "{{.Names}} {{.Status}}"); !containsAll(made, "aqm-check", "Created") {
		t.Errorf("on %s is %q, want a container that has not started", m.Name, made)
	}
	// The next command goes by the same way, which is free again.
	_ = os.Remove(socket)
	if err := os.Symlink(strings.TrimPrefix(m.Docker, "unix://"), socket); err != nil {
		t.Fatal(err)
	}
	if o := aqmlab(t, plainVar, 0, "lab", "status"); !strings.Contains(o.err, "Removed what was left") {
		t.Errorf("the next command said %q", o.err)
	}
	r.nothingLeft(r.machines...)
}
