//go:build linux

package e2e

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// slurm is a Slurm cluster of this machine alone: a control daemon, two nodes, and the
// munge daemon by which they know each other. All listen on loopback.
type slurm struct {
	t     *testing.T
	dir   string
	nodes map[string]*exec.Cmd
}

// startSlurm starts one, which ends with the test.
func startSlurm(t *testing.T) *slurm {
	t.Helper()
	needRoot(t)
	for _, daemon := range []string{"munged", "slurmctld", "slurmd"} {
		if _, err := exec.LookPath(daemon); err != nil {
			t.Skip("no Slurm on this machine (Debian's packages slurm-wlm and munge)")
		}
	}
	s := &slurm{t: t, dir: t.TempDir(), nodes: make(map[string]*exec.Cmd)}
	t.Setenv("SLURM_CONF", s.path("slurm.conf")) // of all that we start, and by that told apart
	t.Cleanup(s.nothingRuns)
	s.configure()
	key := bytes.Repeat([]byte("no secret: this cluster is for a test\n"), 32)
	if err := os.WriteFile(s.path("munge.key"), key, 0o400); err != nil {
		t.Fatal(err)
	}
	s.daemon("munged", "--foreground", "--force", "--key-file="+s.path("munge.key"), "--socket="+s.path("munge"),
		"--pid-file="+s.path("munge.pid"), "--log-file="+s.path("munge.log"), "--seed-file="+s.path("munge.seed"))
	s.until("munge's socket", func() bool { _, err := os.Stat(s.path("munge")); return err == nil })
	s.daemon("slurmctld", "-D", "-f", s.path("slurm.conf"))
	for _, name := range []string{"n1", "n2"} {
		s.startNode(name)
	}
	s.until("both nodes", func() bool { return strings.Count(s.ask("sinfo", "-h", "-N", "-o", "%T"), "idle\n") == 2 })
	// Before the daemons end: they take the jobs with them.
	t.Cleanup(func() {
		s.ask("scancel", "--user=root")
		s.until("an empty queue", func() bool { return s.ask("squeue", "-h") == "" })
	})
	return s
}

func (s *slurm) path(name string) string { return filepath.Join(s.dir, name) }

// configure writes slurm.conf. A node that has died is given up after seconds.
func (s *slurm) configure() {
	s.t.Helper()
	host, err := os.Hostname()
	if err != nil {
		s.t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	ports := make([]int, 3)
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			s.t.Fatal(err)
		}
		defer l.Close()
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	text := fmt.Sprintf(`ClusterName=test
SlurmctldHost=%[1]s(127.0.0.1)
SlurmctldPort=%[2]d
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
AuthType=auth/munge
AuthInfo=socket=%[3]s/munge
SlurmUser=root
StateSaveLocation=%[3]s/state
SlurmdSpoolDir=%[3]s/%%n
SlurmctldPidFile=%[3]s/ctld.pid
SlurmdPidFile=%[3]s/%%n.pid
SlurmctldLogFile=%[3]s/ctld.log
SlurmdLogFile=%[3]s/%%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
SchedulerParameters=sched_min_interval=100000,sched_interval=1,batch_sched_delay=0
ReturnToService=2
MpiDefault=none
SlurmdTimeout=6
BatchStartTimeout=1
MessageTimeout=5
NodeName=n1 NodeHostname=%[1]s NodeAddr=127.0.0.1 Port=%[4]d CPUs=1 State=UNKNOWN
NodeName=n2 NodeHostname=%[1]s NodeAddr=127.0.0.1 Port=%[5]d CPUs=1 State=UNKNOWN
PartitionName=all Nodes=n1,n2 Default=YES State=UP
`, host, ports[0], s.dir, ports[1], ports[2])
	err = os.WriteFile(s.path("slurm.conf"), []byte(text), 0o600)
	for _, name := range []string{"state", "n1", "n2"} {
		if err == nil {
			err = os.Mkdir(s.path(name), 0o755)
		}
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// daemon starts a program that ends with the test.
func (s *slurm) daemon(name string, args ...string) *exec.Cmd {
	s.t.Helper()
	c := exec.Command(name, args...)
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} // a test that runs out of time cleans nothing up
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM) // it may have been killed
		_ = c.Wait()
	})
	return c
}

func (s *slurm) startNode(name string) {
	s.t.Helper()
	s.nodes[name] = s.daemon("slurmd", "-D", "-N", name, "-f", s.path("slurm.conf"))
}

// killNode kills a node as a power cut does: its daemon, and all of its jobs.
func (s *slurm) killNode(name string) {
	s.t.Helper()
	doomed := s.jobs("SLURMD_NODENAME=" + name)
	for pid := range doomed {
		for _, p := range []int{s.nodes[name].Process.Pid, doomed[pid], pid} { // the daemon, the job's keeper, the job
			_ = syscall.Kill(p, syscall.SIGKILL) // who is gone is gone
		}
	}
	if len(doomed) == 0 {
		s.t.Fatalf("node %s has no job to lose", name)
	}
}

// jobs finds the processes of jobs whose environment has a line, with their parents.
func (s *slurm) jobs(line string) map[int]int {
	found := make(map[int]int)
	for pid, environ := range s.processes() {
		if slices.Contains(environ, line) && slices.ContainsFunc(environ, func(v string) bool { return strings.HasPrefix(v, "SLURM_ARRAY_TASK_ID=") }) {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			_, after, _ := strings.Cut(string(stat), ") ")
			fields := strings.Fields(after)
			if err != nil || len(fields) < 2 {
				continue // it has ended
			}
			if parent, err := strconv.Atoi(fields[1]); err == nil && parent > 1 {
				found[pid] = parent
			}
		}
	}
	return found
}

// processes lists those that belong to this cluster, with their environments.
func (s *slurm) processes() map[int][]string {
	found := make(map[int][]string)
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, file := range files {
		pid, err := strconv.Atoi(strings.Split(file, "/")[2])
		text, rerr := os.ReadFile(file)
		environ := strings.Split(string(text), "\x00")
		if err == nil && rerr == nil && pid != os.Getpid() && slices.Contains(environ, "SLURM_CONF="+s.path("slurm.conf")) {
			found[pid] = environ
		}
	}
	return found
}

// nothingRuns fails the test if something of the cluster still runs, and ends it.
func (s *slurm) nothingRuns() {
	for pid := range s.processes() {
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil {
			continue
		}
		s.t.Errorf("left behind: process %d, %s", pid, bytes.ReplaceAll(name, []byte{0}, []byte(" ")))
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// ask runs a command of Slurm, and returns what it printed; nothing where it failed.
func (s *slurm) ask(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return ""
	}
	return string(out)
}

// until waits until a condition holds.
func (s *slurm) until(what string, holds func() bool) {
	s.t.Helper()
	deadline, tick := time.After(2*time.Minute), time.NewTicker(100*time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline:
			log, _ := os.ReadFile(s.path("ctld.log"))
			s.t.Fatalf("waiting for %s: in vain\n%s", what, log)
		case <-tick.C:
		}
	}
}

// hurry lets jobs begin that wait because their node failed: Slurm keeps them back for
// two minutes.
func (s *slurm) hurry() {
	for line := range strings.Lines(s.ask("squeue", "-h", "--array", "-o", "%F_%K %r")) {
		if job, why, _ := strings.Cut(strings.TrimSpace(line), " "); why == "BeginTime" {
			s.ask("scontrol", "update", "JobId="+job, "StartTime=now")
		}
	}
}

// swept is a lab of 200 short points.
const swept = `name: swept
topology: {kind: star, hosts: 3, rate: 1Gbps}
rtt: 100us
schemes: [{name: droptail, aqm: droptail}, {name: tcn, aqm: tcn, threshold: 100us}]
workload: {sizes: websearch, flows: 100, load: [0.5]}
seeds: 1..50
sweep: {over: ["rtt.min=100us,200us"]}
`

// countStored counts the points of a store.
func countStored(t *testing.T, dir string) int {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "points", "*", "*", "figures.json"))
	if err != nil {
		t.Fatal(err)
	}
	return len(found)
}

// TestSlurm: a sweep on a cluster one of whose nodes dies, followed by a command that is
// interrupted and one that attaches, stores what the same sweep does on this machine.
func TestSlurm(t *testing.T) {
	s := startSlurm(t)
	lab, here, there := labFile(t, swept), t.TempDir(), t.TempDir()
	local := command(t, plainVar, "sweep", lab, "--store", here)
	if err := local.Start(); err != nil {
		t.Fatal(err)
	}

	args := []string{"sweep", lab, "--store", there, "--engine", "slurm", "--slurm-chunk", "3s", "--slurm-poll", "1s"}
	first := startCommand(t, command(t, plainVar, args...), "submitted job")
	s.until("points of jobs", func() bool { return countStored(t, there) >= 10 })
	send(t, first, os.Interrupt)
	if err := first.Wait(); first.ProcessState.ExitCode() != 130 {
		t.Fatalf("interrupted: %v, want exit code 130", err)
	}
	submitted := len(arrays(t, there))

	name := sweepName(t, there)
	var log bytes.Buffer
	second := command(t, plainVar, "sweep", "--attach", name, "--store", there)
	second.Stderr = &log
	if err := second.Start(); err != nil {
		t.Fatal(err)
	}
	s.until("a job on n1", func() bool { return len(s.jobs("SLURMD_NODENAME=n1")) > 0 })
	s.killNode("n1")
	gone := time.Now()
	s.until("a job on n2", func() bool { return len(s.jobs("SLURMD_NODENAME=n2")) > 0 })
	for pid := range s.jobs("SLURMD_NODENAME=n2") { // this one dies alone
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	s.until("Slurm to miss the node", func() bool { return time.Since(gone) > 7*time.Second })
	s.startNode("n1")
	ended := make(chan error, 1)
	go func() { ended <- second.Wait() }()
	s.until("the end of the sweep", func() bool {
		s.hurry()
		select {
		case err := <-ended:
			ended <- err
			return true
		default:
			return false
		}
	})
	if err := <-ended; err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	if again := len(arrays(t, there)) - submitted; again < 1 || !strings.Contains(log.String(), "FAILED") {
		t.Errorf("the points of a job that was killed were in %d arrays more\n%s", again, log.String())
	}

	if err := local.Wait(); err != nil {
		t.Fatal(err)
	}
	if n := countStored(t, there); n != 200 {
		t.Errorf("%d points, want 200", n)
	}
	sameStores(t, here, there)
	t.Run("cancel", func(t *testing.T) { cancelSweep(t, s, lab) })
}

// cancelSweep begins a sweep whose jobs have to wait, and cancels them.
func cancelSweep(t *testing.T, s *slurm, lab string) {
	dir := t.TempDir()
	c := startCommand(t, command(t, plainVar, "sweep", lab, "--store", dir, "--seeds", "1..3", "--engine", "slurm", "--slurm-poll", "1s", "--slurm-option=--begin=now+1hour"), "submitted job")
	if waiting := s.ask("squeue", "-h", "-o", "%j %r"); !strings.Contains(waiting, "aqmlab-swept-") {
		t.Errorf("the queue has %q", waiting)
	}
	o := aqmlab(t, plainVar, 0, "sweep", "cancel", sweepName(t, dir), "--store", dir)
	if !strings.Contains(o.out, "cancelled 1 job") {
		t.Errorf("%s", o.out)
	}
	if err := c.Wait(); c.ProcessState.ExitCode() != 1 {
		t.Errorf("who follows a sweep that is cancelled: %v, want exit code 1", err)
	}
	s.until("an empty queue", func() bool { return s.ask("squeue", "-h") == "" })
}

// arrays lists the scripts that a store's sweep has submitted.
func arrays(t *testing.T, dir string) []string {
	t.Helper()
	scripts, err := filepath.Glob(filepath.Join(dir, "sweeps", "*", "jobs", "*.sh"))
	if err != nil {
		t.Fatal(err)
	}
	return scripts
}

// sweepName is the name of the one sweep of a store.
func sweepName(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, "sweeps"))
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v, %v: want one sweep", entries, err)
	}
	return entries[0].Name()
}
