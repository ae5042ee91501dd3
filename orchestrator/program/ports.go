package program

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"aqmlab/orchestrator/netns"
)

// awaitPorts waits until the program listens at all its ports, or ends.
func (p *running) awaitPorts(ctx context.Context, namespace string) error {
	for {
		open, err := listening(namespace)
		if err != nil {
			return err
		}
		missing := slices.IndexFunc(p.Listens, func(port int) bool { return !slices.Contains(open, port) })
		if missing < 0 {
			return nil
		}
		select {
		case <-p.ended:
			return p.endedEarly(p.Listens[missing])
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return fmt.Errorf("it does not listen at port %d after %v", p.Listens[missing], readyWithin)
			}
			return context.Cause(ctx)
		case <-time.After(lookEvery):
		}
	}
}

// endedEarly says how a program ended that was to listen.
func (p *running) endedEarly(port int) error {
	r := p.result
	why := r.Error
	switch {
	case why != "":
		return errors.New(why)
	case r.Signal != "":
		why = "by " + r.Signal
	default:
		why = "with exit status " + strconv.Itoa(int(r.Exit))
	}
	said := lastLines(r.Stderr)
	if said == "" {
		said = lastLines(r.Stdout)
	}
	return fmt.Errorf("it ended %s before it listened at port %d; its last words: %s", why, port, said)
}

// lastLines are the last words of a program, on one line.
func lastLines(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-3):], " / ")
}

// States of TCP in proc(5).
const (
	stateTimeWait = "06"
	stateListen   = "0A"
)

// listening lists the ports that somebody listens at in a namespace, by TCP or, with a
// socket of no peer, by UDP.
func listening(namespace string) ([]int, error) {
	var ports []int
	tcp := eachSocket(namespace, "tcp", func(s socket) {
		if s.state == stateListen {
			ports = append(ports, s.local)
		}
	})
	udp := eachSocket(namespace, "udp", func(s socket) {
		if s.remote == 0 {
			ports = append(ports, s.local)
		}
	})
	return ports, errors.Join(tcp, udp)
}

// connected tells whether a namespace has connections that have not ended, between ports
// that are not others'.
func connected(namespace string, others func(port int) bool) (bool, error) {
	found := false
	err := eachSocket(namespace, "tcp", func(s socket) {
		found = found || s.state != stateListen && s.state != stateTimeWait && !others(s.local) && !others(s.remote)
	})
	return found, err
}

// socket is a line of the kernel's table.
type socket struct {
	state         string
	local, remote int // ports
}

// eachSocket reads the table of a protocol, tcp or udp, of a namespace as in proc(5): a number, both addresses with
// their ports, in hexadecimal, and the state.
func eachSocket(namespace, protocol string, do func(socket)) error {
	return netns.Do(namespace, func() error {
		for _, file := range []string{protocol, protocol + "6"} {
			file = "/proc/thread-self/net/" + file
			text, err := os.ReadFile(file)
			if errors.Is(err, fs.ErrNotExist) {
				continue // no IPv6
			}
			if err != nil {
				return err
			}
			_, lines, _ := strings.Cut(string(text), "\n") // after the header
			for line := range strings.Lines(lines) {
				f := strings.Fields(line)
				if len(f) < 4 {
					return fmt.Errorf("reading %s: %q is no socket", file, line)
				}
				local, lerr := portOf(f[1])
				remote, rerr := portOf(f[2])
				if err := errors.Join(lerr, rerr); err != nil {
					return fmt.Errorf("reading %s: %w", file, err)
				}
				do(socket{f[3], local, remote})
			}
		}
		return nil
	})
}

// portOf is the port of an address such as 0100007F:1389.
func portOf(address string) (int, error) {
	_, hex, _ := strings.Cut(address, ":")
	port, err := strconv.ParseUint(hex, 16, 16)
	return int(port), err
}
