//go:build linux

package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"aqmlab/orchestrator/doctor"
	"aqmlab/results"
)

func newDoctor() *cobra.Command {
	return shown(&cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine has, and what each part of a lab will use",
		Long: `Doctor looks at the kernel and the rights of this process, says which parts of
a lab they allow, what stands in for what is missing, and what to do about the
rest. It changes nothing. Its exit code is 1 when no lab with real hosts can run
here.`,
		Example: "  sudo aqmlab doctor",
	}, func(*cobra.Command, []string) (doctor.Diagnosis, error) {
		d := doctor.Diagnose()
		if !d.Ready && !d.Guest {
			return d, exitStatus(exitFailed)
		}
		return d, nil
	}, printDiagnosis)
}

func printDiagnosis(w io.Writer, d doctor.Diagnosis) error {
	printMachine(w, d.Machine)
	printFindings(w, d.Findings)
	switch {
	case d.Ready:
		fmt.Fprintln(w, "\nLabs run here: try aqmlab run quickstart.")
	case d.Guest:
		fmt.Fprintln(w, "\nLabs run here in virtual time, whatever is MISSING: try aqmlab run quickstart --runtime uml.")
	default:
		fmt.Fprintln(w, "\nNo lab with real hosts can run here until what is MISSING is there; aqmlab kernel build or --runtime sim do without.")
	}
	return nil
}

// printMachine prints what a machine is, and more of it.
func printMachine(w io.Writer, m results.Machine, more ...string) {
	facts := append([]string{"kernel " + m.Kernel, m.CPU, plural(m.Cores, "core")}, more...)
	fmt.Fprintf(w, "%s\n\n", strings.Join(facts, ", "))
}

// printFindings prints what a machine has for labs.
func printFindings(w io.Writer, all []doctor.Finding) {
	for _, f := range all {
		mark := "ok     "
		switch {
		case !f.OK && f.Needed:
			mark = "MISSING"
		case !f.OK:
			mark = "without"
		}
		fmt.Fprintf(w, "%s  %-22s %s\n", mark, f.Part, f.Text)
		if f.Remedy != "" {
			fmt.Fprintf(w, "%33s-> %s\n", "", f.Remedy)
		}
	}
}
