//go:build !linux

package cli

import (
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"aqmlab/labs"
	"aqmlab/orchestrator"
	"aqmlab/orchestrator/backend"
	"aqmlab/results"
	"aqmlab/switch/port"
)

// ofMachine are the commands that need what Linux has, and doctor.
func ofMachine(port.Kinds) []*cobra.Command {
	return []*cobra.Command{
		newDoctor(),
		needsLinux("machines", "Look at the machines of a rack"),
		needsLinux("bench", "Measure aqmlab on this machine"),
		needsLinux("image", "Make aqmlab's own container image"),
		needsLinux("kernel", "Make and look at the guest kernels of --runtime uml"),
	}
}

// ofKept are those for labs that stay up.
func ofKept(port.Kinds) []*cobra.Command {
	return []*cobra.Command{
		needsLinux("up", "Bring up a lab's hosts and switch, and leave them up"),
		needsLinux("down", "Take down a lab that is up"),
		needsLinux("status", "List the labs that are up"),
		needsLinux("exec", "Run a command on a host of a lab that is up"),
		needsLinux("stats", "Show the queues of a lab that is up"),
		needsLinux("use", "Have a lab that is up use another scheme"),
		needsLinux("set", "Change a lab that is up"),
		needsLinux("event", "Have an event happen in a lab that is up"),
	}
}

// needsLinux is a command that is refused here, whatever follows it.
func needsLinux(use, short string) *cobra.Command {
	return &cobra.Command{
		Use:                use,
		Short:              short + " (needs Linux)",
		Args:               cobra.ArbitraryArgs,
		DisableFlagParsing: true,
		RunE:               func(c *cobra.Command, _ []string) error { return refuse(c.CommandPath()) },
	}
}

// refuse says what is needed, and what there is.
func refuse(what string) error {
	return usage(fmt.Errorf("%s needs Linux, and this is the program for %s: it has simulations (aqmlab run LAB --runtime %s), sweep, tune, compare, report, serve and results", what, runtime.GOOS, orchestrator.Simulator()))
}

func newDoctor() *cobra.Command {
	type diagnosis struct {
		Version  string          `json:"aqmlab_version"`
		System   string          `json:"system"`
		Machine  results.Machine `json:"machine"`
		Runtimes []string        `json:"runtimes"` // that run here
	}
	return shown(&cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine has for labs",
	}, func(*cobra.Command, []string) (diagnosis, error) {
		return diagnosis{version(), runtime.GOOS + "/" + runtime.GOARCH, results.ThisMachine(), []string{string(orchestrator.Simulator())}}, nil
	}, func(w io.Writer, d diagnosis) error {
		_, err := fmt.Fprintf(w, "%s, %s\n\nLabs run here with modelled hosts in virtual time: aqmlab run quickstart --runtime %s.\nReal hosts and guest kernels need Linux.\n", d.System, plural(d.Machine.Cores, "core"), d.Runtimes[0])
		return err
	})
}

// guestVersions: there are no guests here.
func guestVersions() []string { return nil }

func checkGuestVersion(string) error { return nil }

// machineLacks tells whether an error is about what the system lacks.
func machineLacks(err error) bool { return errors.Is(err, orchestrator.ErrNeedsLinux) }

// lacking says of runtimes why they cannot run here; empty: they can.
func lacking() func(backend.Facts) string {
	return func(on backend.Facts) string {
		if on.Modelled {
			return ""
		}
		return orchestrator.ErrNeedsLinux.Error()
	}
}

// removeLeftovers has nothing to do: nothing is ever made on the machine.
func removeLeftovers(*cobra.Command) {}

// inNamespaces: there are none.
func inNamespaces(*cobra.Command, backend.Facts) (done bool, err error) { return false, nil }

func confined(c *cobra.Command, _ func() backend.Facts) *cobra.Command { return c }

// showPlacement asks for machines that run labs.
func showPlacement(io.Writer, *labs.Lab) error { return refuse("--placement") }
