package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"aqmlab/orchestrator/guests"
	"aqmlab/orchestrator/uml"
)

func newKernel() *cobra.Command {
	return group("kernel", "Make and look at the guest kernel of --runtime uml",
		newKernelBuild(), newKernelShow(), newKernelPath(), newKernelTest())
}

func newKernelBuild() *cobra.Command {
	var o uml.BuildOptions
	c := &cobra.Command{
		Use:   "build",
		Short: "Build the guest kernel",
		Long: `Build compiles User-Mode Linux with what labs need, from the kernel's source in
Debian's package linux-source-6.1 or from --source, tests it, and puts it into the
user's cache. It takes a few minutes, 1.5 GB of disk meanwhile, and no
root.`,
		Example: `  aqmlab kernel build
  aqmlab kernel build --source ~/linux-6.1.tar.xz`,
		RunE: func(c *cobra.Command, _ []string) error {
			start := time.Now()
			o.Say = func(text string) { fmt.Fprintln(c.ErrOrStderr(), text) }
			var tried guests.KernelTest
			o.Try = func(ctx context.Context, k uml.Kernel) (err error) {
				fmt.Fprintf(c.ErrOrStderr(), "built Linux %s in %v\n", k.Release, time.Since(start).Round(time.Second))
				tried, err = guests.TryKernel(ctx, k)
				if err == nil && !tried.Diagnosis.Ready {
					err = errors.Join(printKernelTest(c.ErrOrStderr(), tried), errors.New("labs do not run on it"))
				}
				return err
			}
			defer hold(c)()
			if _, err := uml.Build(c.Context(), o); err != nil {
				return kernelError(err)
			}
			return printKernelTest(c.OutOrStdout(), tried)
		},
	}
	c.Flags().StringVar(&o.Source, "source", "", "folder or archive of a Linux kernel's source (default: the package linux-source-*)")
	c.Flags().IntVar(&o.Jobs, "jobs", 0, "compilers at once; 0: one a CPU")
	return c
}

func newKernelShow() *cobra.Command {
	return shown(&cobra.Command{
		Use:     "show",
		Short:   "Show which guest kernel there is",
		Example: "  aqmlab kernel show --json",
	}, findKernel, func(w io.Writer, k uml.Kernel) error {
		fmt.Fprintf(w, "Linux %s\n  file    %s\n  source  %s\n  built   %s\n", k.Release, k.Path, k.Source, k.Built.Format(time.RFC3339))
		return nil
	})
}

func findKernel(*cobra.Command, []string) (uml.Kernel, error) {
	k, err := uml.Find()
	return k, kernelError(err)
}

func newKernelPath() *cobra.Command {
	return &cobra.Command{
		Use:     "path",
		Short:   "Print the guest kernel's file",
		Example: "  cp $(aqmlab kernel path) /shared/",
		RunE: func(c *cobra.Command, _ []string) error {
			k, err := findKernel(c, nil)
			if err == nil {
				fmt.Fprintln(c.OutOrStdout(), k.Path)
			}
			return err
		},
	}
}

func newKernelTest() *cobra.Command {
	return shown(&cobra.Command{
		Use:     "test",
		Short:   "Boot the guest kernel and say what it has for labs",
		Example: "  aqmlab kernel test",
	}, func(c *cobra.Command, _ []string) (guests.KernelTest, error) {
		k, err := findKernel(c, nil)
		if err != nil {
			return guests.KernelTest{}, err
		}
		defer hold(c)()
		t, err := guests.TryKernel(c.Context(), k)
		if err == nil && !t.Diagnosis.Ready {
			err = exitStatus(exitFailed)
		}
		return t, kernelError(err)
	}, printKernelTest)
}

func printKernelTest(w io.Writer, t guests.KernelTest) error {
	var with, without []string
	for _, f := range t.Diagnosis.Findings {
		if f.OK {
			with = append(with, f.Part)
		} else {
			without = append(without, fmt.Sprintf("%s (%s)", f.Part, f.Text))
		}
	}
	fmt.Fprintf(w, "Linux %s booted, looked around and powered off in %v.\n", t.Kernel.Release, t.Took.Round(10*time.Millisecond))
	fmt.Fprintf(w, "  has      %s\n", strings.Join(with, ", "))
	if len(without) > 0 {
		fmt.Fprintf(w, "  without  %s\n", strings.Join(without, ", "))
	}
	if t.Diagnosis.Ready {
		fmt.Fprintln(w, "Labs run on it: try aqmlab run quickstart --runtime uml.")
	}
	return nil
}

// kernelError marks what the user must install or build first.
func kernelError(err error) error {
	if errors.Is(err, uml.ErrUnavailable) {
		return usage(err)
	}
	return err
}
