package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"aqmlab/orchestrator/backend"
	"aqmlab/orchestrator/docker"
	"aqmlab/orchestrator/doctor"
	"aqmlab/orchestrator/host/cc"
	"aqmlab/orchestrator/machines"
	"aqmlab/orchestrator/testbed"
	"aqmlab/orchestrator/uml"
	"aqmlab/switch/port"
)

// ofMachine are the commands that need what Linux has.
func ofMachine(kinds port.Kinds) []*cobra.Command {
	return []*cobra.Command{newMachines(kinds), newDoctor(), newBench(), newImage(), newKernel(), newAgent(kinds)}
}

// ofKept are those for labs that stay up.
func ofKept(kinds port.Kinds) []*cobra.Command {
	return []*cobra.Command{
		newLabUp(kinds), newLabDown(), newLabStatus(), newLabExec(),
		newLabStats(kinds), newLabUse(kinds), newLabSet(kinds), newLabEvent(kinds),
	}
}

// guestVersions are the versions of Linux that guests may have.
func guestVersions() []string { return uml.Versions() }

// checkGuestVersion refuses a version of Linux that no guest can have.
func checkGuestVersion(version string) error {
	if _, err := uml.Find(version); errors.Is(err, uml.ErrVersion) {
		return err
	}
	return nil
}

// machineLacks tells whether an error is about what the machine lacks, or does not have of
// what was named.
func machineLacks(err error) bool {
	if errors.As(err, new(*cc.UnsupportedError)) || errors.As(err, new(*docker.UnavailableError)) || errors.As(err, new(*machines.UnreachableError)) || errors.As(err, new(*testbed.TooFarError)) {
		return true
	}
	for _, lacks := range []error{
		uml.ErrUnavailable, testbed.ErrNotRoot, testbed.ErrOneMachine, testbed.ErrMemory, testbed.ErrNoLab, testbed.ErrAmbiguous, testbed.ErrNoHost, testbed.ErrOld, testbed.ErrNotForgotten,
	} {
		if errors.Is(err, lacks) {
			return true
		}
	}
	return false
}

// lacking says of runtimes why they cannot run here, as doctor finds it; empty: they can.
func lacking() func(backend.Facts) string {
	d := doctor.Diagnose()
	return func(on backend.Facts) string {
		switch {
		case on.Modelled:
			return ""
		case on.Guests:
			return d.Missing(doctor.GuestKernel)
		case on.Containers && os.Geteuid() != 0:
			return "containers need root: run aqmlab serve with sudo"
		case on.Containers && d.Ready:
			return d.Missing(doctor.Docker)
		}
		return d.Missing("")
	}
}

// removeLeftovers removes what killed runs have left, before any command of users does
// its own work.
func removeLeftovers(c *cobra.Command) {
	removed, err := testbed.Sweep(testbed.Options{})
	if errors.Is(err, fs.ErrPermission) && os.Geteuid() != 0 {
		err = nil // they are another user's
	}
	for _, id := range removed {
		fmt.Fprintf(c.ErrOrStderr(), "Removed what was left of lab %s, whose run was killed.\n", id)
	}
	if err != nil {
		fmt.Fprintf(c.ErrOrStderr(), "aqmlab: removing what killed runs left: %v\n", err)
	}
}
