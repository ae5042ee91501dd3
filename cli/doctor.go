package cli

import (
	"fmt"
	"io"

	"aqmlab/orchestrator/doctor"

	"github.com/spf13/cobra"
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
	fmt.Fprintf(w, "kernel %s, %s, %s\n\n", d.Machine.Kernel, d.Machine.CPU, plural(d.Machine.Cores, "core"))
	for _, f := range d.Findings {
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
