//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"aqmlab/results"
)

// piped is a lab whose switch is slow enough for any machine.
const piped = `
name: piped
topology: {hosts: 3, rate: 50Mbps}
rtt: 2ms
host: {transport: dctcp}
switch: {buffer: {per_port: 100KB}}
schemes: [{name: droptail, aqm: droptail}, {name: tcn, aqm: tcn, threshold: 1ms}]
workload: {load: 0.5, flows: 10}
`

// needIperf3 skips where it is not installed.
func needIperf3(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("iperf3"); err != nil {
		t.Skip("not installed: iperf3")
	}
}

// keptLab brings a lab up until the test ends, and returns its id.
func keptLab(t *testing.T, lab string, args ...string) string {
	t.Helper()
	o := aqmlab(t, raceVar, 0, append([]string{"lab", "up", labFile(t, lab)}, args...)...)
	id, _, _ := strings.Cut(strings.SplitN(o.out, " is up as ", 2)[1], ":")
	t.Cleanup(func() { aqmlab(t, plainVar, 0, "lab", "down", id) })
	return id
}

// iperf3 sends from h2 to h1 of a lab until the test ends it.
func iperf3(t *testing.T, id string, args ...string) *exec.Cmd {
	t.Helper()
	server := command(t, plainVar, "lab", "exec", "--lab", id, "h1", "--", "iperf3", "-s", "-1")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool {
		o, err := command(t, plainVar, "lab", "exec", "--lab", id, "h1", "--", "ss", "-Hltn").Output()
		return err == nil && strings.Contains(string(o), ":5201")
	})
	client := command(t, plainVar, append([]string{"lab", "exec", "--lab", id, "h2", "--", "iperf3", "-c", "h1"}, args...)...)
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = client.Process.Kill(), client.Wait() // or it has ended
		_ = server.Wait()
	})
	return client
}

// towards looks at a lab for a moment, and returns the queue of the port to a host.
func towards(t *testing.T, id, host string) results.QueueStats {
	t.Helper()
	o := aqmlab(t, plainVar, 0, "lab", "stats", id, "--every", "200ms", "--count", "1", "--json", "--all")
	var i struct {
		ID string
		results.Interval
	}
	if err := json.Unmarshal([]byte(o.out), &i); err != nil || i.ID != id || strings.Count(o.out, "\n") != 1 {
		t.Fatalf("%v in\n%s", err, o.out)
	}
	for _, q := range i.Queues {
		if q.Port == host {
			return q
		}
	}
	t.Fatalf("no port to %s in\n%s", host, o.out)
	return results.QueueStats{}
}

// TestLive: a lab that is up is watched, gets a slower link, another scheme and another
// threshold, while a connection goes on.
func TestLive(t *testing.T) {
	needRoot(t)
	needIperf3(t)
	id := keptLab(t, piped)
	iperf3(t, id, "-t", "100", "-C", "dctcp")
	waitFor(t, func() bool { return towards(t, id, "h1").Rate > 25e6 })
	aqmlab(t, plainVar, 0, "lab", "event", "link=s1:h1", "rate=20Mbps", "piped")
	if q := towards(t, id, "h1"); q.Rate > 20.5e6 || q.Rate < 1e6 || q.MarkedEnqueue+q.MarkedDequeue != 0 {
		t.Errorf("on a link of 20 Mbps with droptail: %+v", q)
	}
	aqmlab(t, plainVar, 0, "lab", "use", "tcn")
	aqmlab(t, plainVar, 0, "lab", "set", "schemes.tcn.threshold=600us", id)
	waitFor(t, func() bool { return towards(t, id, "h1").MarkedDequeue > 0 })
	aqmlab(t, plainVar, 0, "lab", "event", "link=s1:h1", "down", "for=100ms")
	waitFor(t, func() bool {
		q := towards(t, id, "h1")
		return q.Sent > 0 && q.SojournP50 <= q.SojournP99 && q.SojournP99 <= q.SojournMax
	})
	if o := aqmlab(t, plainVar, 0, "lab", "status"); !containsAll(o.out, "tcn", "changed: schemes.tcn.threshold=600us; link=s1:h1 rate=20Mbps\n") {
		t.Errorf("status:\n%s", o.out)
	}
	if o := aqmlab(t, plainVar, 0, "lab", "stats"); !containsAll(o.out, "SOJOURN", "h1", "because it was down") {
		t.Errorf("stats:\n%s", o.out)
	}
	o := aqmlab(t, plainVar, 0, "lab", "stats", "--csv")
	lines := strings.Split(strings.TrimSpace(o.out), "\n")
	if len(lines) != 3 || strings.Count(lines[0], ",") != strings.Count(lines[1], ",") || !strings.Contains(lines[1], ",s1,h1,0,") {
		t.Errorf("CSV:\n%s", o.out)
	}
}

// TestLiveHosts: hosts send at the rate that their link has, until an event is over, and
// hold back what another base RTT asks for.
func TestLiveHosts(t *testing.T) {
	needRoot(t)
	keptLab(t, piped)
	rate := func() string {
		return sendingRate(t, command(t, plainVar, "lab", "exec", "h2", "--", "tc", "qdisc", "show", "dev", "eth0"))
	}
	ping := func() (ms float64) {
		o := aqmlab(t, plainVar, 0, "lab", "exec", "h2", "--", "ping", "-c", "3", "-i", "0.05", "h1")
		_, after, _ := strings.Cut(o.out, " = ")
		if _, err := fmt.Sscanf(after, "%f/", &ms); err != nil {
			t.Fatalf("%v in\n%s", err, o.out)
		}
		return ms
	}
	before := rate()
	c := command(t, plainVar, "lab", "event", "link=h2:s1", "rate=10Mbps", "for=1h")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return rate() != before })
	aqmlab(t, plainVar, 0, "lab", "event", "host=h2", "rtt=60ms")
	if ms := ping(); ms < 60 {
		t.Errorf("an RTT of %v ms, want 60", ms)
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if _ = c.Wait(); c.ProcessState.ExitCode() != 130 {
		t.Errorf("an interrupted event: %v", c.ProcessState)
	}
	if got := rate(); got != before {
		t.Errorf("h2 sends at %s after the event, before at %s", got, before)
	}
	if o := aqmlab(t, plainVar, 0, "lab", "status"); strings.Contains(o.out, "10Mbps") || !strings.Contains(o.out, "host=h2 rtt=60ms") {
		t.Errorf("status:\n%s", o.out)
	}
	for _, args := range [][]string{
		{"use", "red"}, {"use", "tcn", "nolab"}, {"set", "topology.rate=1Gbps"}, {"set", "schemes.tcn.threshold=soon"}, {"set", "piped"},
		{"event", "link=s1:h9", "down"}, {"event", "link=s1:h2"}, {"event", "link=s1:h2", "rate=1Kbps"}, {"stats", "--every", "1ns"}, {"stats", "--json", "--csv"},
	} {
		aqmlab(t, plainVar, 2, append([]string{"lab"}, args...)...)
	}
	if o := aqmlab(t, plainVar, 0, "lab", "status"); !containsAll(o.out, "droptail", "changed: host=h2 rtt=60ms\n") {
		t.Errorf("status after errors:\n%s", o.out)
	}
}

// sendingRate is the rate that a command of tc shows of a token bucket.
func sendingRate(t *testing.T, c *exec.Cmd) string {
	t.Helper()
	o := finish(t, c, 0)
	_, after, ok := strings.Cut(o.out, " rate ")
	if !ok {
		t.Fatalf("no rate in %q", o.out)
	}
	return strings.Fields(after)[0]
}

// inNamespace is the rate at which h2 of a lab sends, seen from the machine.
func inNamespace(t *testing.T, id string) string {
	t.Helper()
	return sendingRate(t, exec.Command("ip", "netns", "exec", "aqm-"+id+"-h2", "tc", "qdisc", "show", "dev", "eth0"))
}

// changeLive watches and changes the only lab that is up, by commands that aqmlab makes,
// and kills one before its event is over: the event, and the rate at which h2 sends, end
// in time all the same.
func changeLive(t *testing.T, aqmlab func(args ...string) *exec.Cmd, rate func() string) {
	t.Helper()
	before := rate()
	finish(t, aqmlab("lab", "use", "tcn"), 0)
	finish(t, aqmlab("lab", "set", "schemes.tcn.threshold=600us"), 0)
	event := aqmlab("lab", "event", "link=h2:s1", "rate=10Mbps", "for=2s")
	start(t, event)
	waitFor(t, func() bool { return rate() != before })
	if o := finish(t, aqmlab("lab", "status"), 0); !containsAll(o.out, "tcn", "changed: schemes.tcn.threshold=600us; link=h2:s1 rate=10Mbps for=2s\n") {
		t.Errorf("status:\n%s", o.out)
	}
	if err := event.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = event.Wait() // it was killed
	waitFor(t, func() bool { return rate() == before })
	if o := finish(t, aqmlab("lab", "event", "link=h2:s1", "rate=20Mbps"), 0); !containsAll(o.out, "tcn", "rate=20Mbps") || strings.Contains(o.out, "10Mbps") {
		t.Errorf("after the event:\n%s", o.out)
	}
	if rate() == before {
		t.Error("h2 sends at the rate before the event")
	}
	var looked struct{ results.Interval }
	o := finish(t, aqmlab("lab", "stats", "--all", "--json"), 0)
	if err := json.Unmarshal([]byte(o.out), &looked); err != nil || len(looked.Queues) != 3 || looked.Length == 0 {
		t.Errorf("%v in\n%s", err, o.out)
	}
}

// TestLiveEvents: events of a lab in namespaces do not depend on the command that made
// them happen.
func TestLiveEvents(t *testing.T) {
	t.Parallel()
	needRoot(t)
	id := keptLab(t, piped)
	changeLive(t, func(args ...string) *exec.Cmd { return command(t, plainVar, args...) }, func() string { return inNamespace(t, id) })
}

// TestDockerLive: nor do those of a lab in containers.
func TestDockerLive(t *testing.T) {
	t.Parallel()
	d := ownDaemon(t)
	state := newState(t)
	o := finish(t, d.command(t, state, "lab", "up", labFile(t, piped), "--runtime", "docker"), 0)
	id, _, _ := strings.Cut(strings.SplitN(o.out, " is up as ", 2)[1], ":")
	t.Cleanup(func() { finish(t, d.command(t, state, "lab", "down", id), 0) })
	changeLive(t, func(args ...string) *exec.Cmd { return d.command(t, state, args...) }, func() string { return inNamespace(t, id) })
}

// TestRootlessLive: nor do those of an ordinary user's.
func TestRootlessLive(t *testing.T) {
	t.Parallel()
	u := newRootless(t)
	for _, tool := range []string{"nsenter", "tc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	finish(t, u.command(t, "lab", "up", u.lab(t, strings.Replace(piped, "transport: dctcp", "transport: ecn-star", 1))), 0)
	t.Cleanup(func() { finish(t, u.command(t, "lab", "down"), 0) })
	aqmlab := func(args ...string) *exec.Cmd { return u.command(t, args...) }
	changeLive(t, aqmlab, func() string {
		return sendingRate(t, aqmlab("lab", "exec", "h2", "--", "tc", "qdisc", "show", "dev", "eth0"))
	})
}

// TestDCTCPByName: programs in labs find DCTCP by the name that all know, also when a lab
// that offered it before has ended.
func TestDCTCPByName(t *testing.T) {
	needRoot(t)
	needIperf3(t)
	a := keptLab(t, piped)
	o := aqmlab(t, plainVar, 0, "lab", "up", labFile(t, piped))
	b, _, _ := strings.Cut(strings.SplitN(o.out, " is up as ", 2)[1], ":")
	if o := aqmlab(t, plainVar, 0, "lab", "status"); strings.Count(o.out, "dctcp ") != 2 {
		t.Errorf("not by the name dctcp in both:\n%s", o.out)
	}
	aqmlab(t, plainVar, 0, "lab", "down", b)
	client := iperf3(t, a, "-n", "100K", "-C", "dctcp")
	if err := client.Wait(); err != nil {
		t.Errorf("iperf3 -C dctcp: %v", err)
	}
}
