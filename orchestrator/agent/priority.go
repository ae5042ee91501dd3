package agent

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// prioritize gives all threads of an agent a nice value, and the same to its
// session: where the kernel groups processes by session (autogroup, see sched(7)),
// the values of processes count only within one. Whoever lacks the right to, or the
// kernel the grouping, does without.
func prioritize(pid, nice int) {
	_ = unix.Setpriority(unix.PRIO_PGRP, pid, nice) // the leader of its group
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/autogroup", pid), []byte(strconv.Itoa(nice)), 0)
}
