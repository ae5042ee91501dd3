package netns_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// run runs a command on a host by Exec, in a process of its own.
func run(t *testing.T, namespace, hosts string, argv ...string) (string, int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"exec", namespace, hosts}, argv...)...)
	out, err := cmd.CombinedOutput()
	if failed := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func TestExec(t *testing.T) {
	lab := up(t, plan(2))
	hosts := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(hosts, lab.HostsFile(), 0o644); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile("/etc/hosts")
	if err != nil {
		t.Skipf("needs an /etc/hosts to mount over: %v", err)
	}
	tests := []struct {
		name string
		argv []string
		out  string
		code int
	}{
		{"exit status", []string{"sh", "-c", "exit 42"}, "", 42},
		{"names of hosts", []string{"sh", "-c", "getent hosts h2 | tr -s ' '"}, lab.Hosts[1].Addr.String() + " h2\n", 0},
		{"devices", []string{"ls", "/sys/class/net"}, "eth0\nlo\n", 0},
		{"arguments as they are", []string{"printf", "%s|", "a b", "*"}, "a b|*|", 0},
		{"unknown command", []string{"no-such-command"}, "executable file not found", 125},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			out, code := run(t, lab.Hosts[0].Namespace, hosts, test.argv...)
			if code != test.code || !strings.Contains(out, test.out) {
				t.Errorf("exit status %d, output %q; want %d, %q", code, out, test.code, test.out)
			}
		})
	}
	if after, err := os.ReadFile("/etc/hosts"); err != nil || string(after) != string(before) {
		t.Errorf("/etc/hosts outside has changed: %q, %v", after, err)
	}
	if out, code := run(t, "aqm-none-such", hosts, "true"); code != 125 || !strings.Contains(out, "aqm-none-such") {
		t.Errorf("namespace that is not there: %d, %q", code, out)
	}
}
