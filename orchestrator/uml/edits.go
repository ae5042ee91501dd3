package uml

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// edit is one change to the kernel's source: all places of a text in a file.
type edit struct {
	file     string
	old, now string
	why      string
	// optional edits are of no use where their text is not found: newer kernels
	// have what they are for, by other means.
	optional bool
}

// clockFile is the guest's clock.
const clockFile = "arch/um/kernel/time.c"

// dctcpFile is the kernel's DCTCP.
const dctcpFile = "net/ipv4/tcp_dctcp.c"

// edits are the changes that a lab's guest needs. Beside ARCH=um one is of DCTCP,
// which behaves as ever unless told otherwise; the rest of TCP, the devices and the
// queueing disciplines are the kernel's own.
var edits = [...]edit{
	{
		file: "arch/um/Kconfig",
		old:  "config HZ\n\tint\n\tdefault 100\n",
		now:  "config HZ\n\tint\n\tdefault 1000\n",
		why:  "TCP's timers count in ticks: of 1 ms, as in a datacenter's kernel",
	},
	{
		file: "arch/um/include/linux/time-internal.h",
		old:  "#define TIMER_MULTIPLIER 256",
		now:  "#define TIMER_MULTIPLIER 1",
		why:  "the clock counts nanoseconds, not 256 of them",
	},
	{
		file: "arch/um/include/linux/time-internal.h",
		old:  "#define TIMER_MIN_DELTA  500",
		now:  "#define TIMER_MIN_DELTA  1",
		why:  "timers that end close to each other all end in time",
	},
	{
		file: "arch/um/kernel/skas/syscall.c",
		old:  "um_udelay(1);",
		now:  "time_travel_ndelay(1);",
		why:  "a call that fails, as the read of an empty socket does, takes a nanosecond, not 1,000",
	},
	// To read the clock takes time, else a loop that waits for time to pass never
	// ended: a nanosecond, and a microsecond for who reads it ten thousand times
	// without the guest ever being idle. The Go runtime has such loops.
	{
		file: clockFile,
		old:  "static unsigned long long time_travel_time;\nstatic LIST_HEAD(time_travel_events);",
		now:  "static unsigned long long time_travel_time;\nstatic unsigned int time_travel_reads;\nstatic LIST_HEAD(time_travel_events);",
		why:  "readings of the clock are counted",
	},
	{
		file: clockFile,
		old:  "time_travel_update_time_rel(TIMER_MULTIPLIER);",
		now:  "time_travel_update_time_rel(++time_travel_reads < 10000 ? 1 : 1000);",
		why:  "waiting by reading the clock comes to an end",
	},
	{
		file: clockFile,
		old:  "\ttime_travel_update_time(next, true);",
		now:  "\ttime_travel_reads = 0, time_travel_update_time(next, true);",
		why:  "an idle guest reads no clock",
	},
	{
		file: "arch/um/os-Linux/util.c",
		old:  "return getrandom(buf, len, flags);",
		now:  "return memset(buf, 1, len) ? (ssize_t) len : -1;",
		why:  "the host's randomness would make two runs differ; the guest is given a seed",
	},
	{
		file: "arch/um/os-Linux/skas/process.c",
		old:  "PTRACE_O_TRACESYSGOOD) < 0",
		now:  "(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)) < 0",
		why:  "the guest's processes end with its kernel, even if that is killed",
	},
	{
		file:     "arch/x86/um/user-offsets.c",
		old:      "DEFINE_LONGS(HOST_FP_SIZE, 2696);",
		now:      "DEFINE_LONGS(HOST_FP_SIZE, 12288);",
		why:      "CPUs with AMX have 11 KB of floating-point state; the guest would panic at once",
		optional: true,
	},
	// A parameter brings back what Linux before 5.1 does for a loss, on which
	// published experiments ran: nothing, so that the window is cut by
	// dctcp_ssthresh alone.
	{
		file: dctcpFile,
		old:  "\nstatic struct tcp_congestion_ops dctcp_reno;\n\nstatic void dctcp_reset(",
		now: "\nstatic bool dctcp_halve_on_loss __read_mostly = true;\nmodule_param(dctcp_halve_on_loss, bool, 0644);\n" +
			"\nstatic struct tcp_congestion_ops dctcp_reno;\nstatic void dctcp_reset(",
		why: "labs choose what DCTCP does for a loss",
	},
	{
		file: dctcpFile,
		old:  "tp->snd_ssthresh = max(tcp_snd_cwnd(tp) >> 1U, 2U);",
		now:  "tp->snd_ssthresh = dctcp_halve_on_loss ? max(tcp_snd_cwnd(tp) >> 1U, 2U) : tp->snd_ssthresh;",
		why:  "labs choose what DCTCP does for a loss",
	},
}

// applyEdits makes the changes in a kernel tree.
func applyEdits(tree string) error {
	for _, e := range edits {
		if err := e.apply(tree); err != nil {
			return fmt.Errorf("changing the kernel's source (%s): %w", e.why, err)
		}
	}
	return nil
}

func (e edit) apply(tree string) error {
	path := filepath.Join(tree, e.file)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && e.optional {
		return nil
	}
	if err != nil {
		return err
	}
	switch {
	case strings.Contains(string(text), e.old):
		return os.WriteFile(path, []byte(strings.ReplaceAll(string(text), e.old, e.now)), 0o644)
	case strings.Contains(string(text), e.now) || e.optional:
		return nil
	}
	return fmt.Errorf("%s has no %q; this kernel is not known to work, Linux 6.1 is", e.file, e.old)
}
