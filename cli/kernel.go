//go:build linux

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"aqmlab/labs"
	"aqmlab/orchestrator/guests"
	"aqmlab/orchestrator/uml"
)

func newKernel() *cobra.Command {
	return group("kernel", "Make and look at the guest kernels of --runtime uml",
		newKernelBuild(), newKernelInstall(), newKernelShow(), newKernelPath(), newKernelTest(), newKernelPack())
}

func newKernelBuild() *cobra.Command {
	var o uml.BuildOptions
	c := &cobra.Command{
		Use:   "build",
		Short: "Build a guest kernel",
		Long: `Build compiles User-Mode Linux with what labs need, from the kernel's source in
Debian's package linux-source-6.1 or from --source, tests it, and puts it into the
user's cache. It takes a few minutes, 1.5 GB of disk meanwhile, and no root. With
--version the kernel is another, beside the one that is there: labs choose it by
host.kernel or --kernel.`,
		Example: `  aqmlab kernel build
  aqmlab kernel build --version 6.12
  aqmlab kernel build --source ~/linux-6.1.tar.xz`,
		RunE: func(c *cobra.Command, _ []string) error {
			start := time.Now()
			o.Say = func(text string) { fmt.Fprintln(c.ErrOrStderr(), text) }
			var tried guests.KernelTest
			try := tryInto(c, &tried)
			o.Try = func(ctx context.Context, k uml.Kernel) error {
				fmt.Fprintf(c.ErrOrStderr(), "built Linux %s in %v\n", k.Release, time.Since(start).Round(time.Second))
				return try(ctx, k)
			}
			defer hold(c)()
			if _, err := uml.Build(c.Context(), o); err != nil {
				return kernelError(err)
			}
			return printKernelTest(c.OutOrStdout(), tried)
		},
	}
	versionFlag(c, &o.Version, uml.Versions()[0])
	c.Flags().StringVar(&o.Source, "source", "", "folder or archive of a Linux kernel's source (default: the package linux-source-*)")
	c.Flags().IntVar(&o.Jobs, "jobs", 0, "compilers at once; 0: one a CPU")
	return c
}

// tryInto tests a kernel before it is stored, and notes what it has.
func tryInto(c *cobra.Command, tried *guests.KernelTest) func(context.Context, uml.Kernel) error {
	return func(ctx context.Context, k uml.Kernel) (err error) {
		*tried, err = guests.TryKernel(ctx, k)
		if err == nil && !tried.Diagnosis.Ready {
			err = errors.Join(printKernelTest(c.ErrOrStderr(), *tried), errors.New("labs do not run on it"))
		}
		return err
	}
}

// versionFlag adds the flag for a version of Linux.
func versionFlag(c *cobra.Command, version *string, value string) {
	c.Flags().StringVar(version, "version", value, "version of Linux: "+strings.Join(uml.Versions(), ", "))
	completeFlag(c, "version", cobra.FixedCompletions(uml.Versions(), cobra.ShellCompDirectiveNoFileComp))
}

func newKernelShow() *cobra.Command {
	return shown(&cobra.Command{
		Use:     "show",
		Short:   "Show which guest kernels there are",
		Example: "  aqmlab kernel show --json",
	}, func(*cobra.Command, []string) ([]uml.Kernel, error) { return findKernels("") }, printKernels)
}

// findKernels finds the kernel of a version, or without one all that there are.
func findKernels(version string) ([]uml.Kernel, error) {
	all := uml.All()
	if version != "" || len(all) == 0 {
		k, err := uml.Find(version)
		return []uml.Kernel{k}, kernelError(err)
	}
	return all, nil
}

// printKernels prints what there is, and how to get what there is not.
func printKernels(w io.Writer, all []uml.Kernel) error {
	for _, version := range uml.Versions() {
		i := slices.IndexFunc(all, func(k uml.Kernel) bool { return k.Version == version })
		if i >= 0 {
			k := all[i]
			built := "elsewhere"
			if !k.Built.IsZero() {
				built = k.Built.Format(time.RFC3339)
			}
			fmt.Fprintf(w, "Linux %s\n  file    %s\n  source  %s\n  built   %s\n", k.Release, k.Path, k.Source, built)
		} else if _, err := uml.Find(version); err != nil {
			fmt.Fprintln(w, err)
		}
	}
	return nil
}

func newKernelPath() *cobra.Command {
	var version string
	c := &cobra.Command{
		Use:     "path",
		Short:   "Print a guest kernel's file",
		Example: "  cp $(aqmlab kernel path) /shared/",
		RunE: func(c *cobra.Command, _ []string) error {
			k, err := uml.Find(version)
			if err == nil {
				fmt.Fprintln(c.OutOrStdout(), k.Path)
			}
			return kernelError(err)
		},
	}
	versionFlag(c, &version, uml.Versions()[0])
	return c
}

func newKernelTest() *cobra.Command {
	var version string
	c := shown(&cobra.Command{
		Use:     "test",
		Short:   "Boot the guest kernels and say what they have for labs",
		Example: "  aqmlab kernel test",
	}, func(c *cobra.Command, _ []string) (all []guests.KernelTest, err error) {
		kernels, err := findKernels(version)
		if err != nil {
			return nil, err
		}
		defer hold(c)()
		for _, k := range kernels {
			t, tryErr := guests.TryKernel(c.Context(), k)
			if tryErr == nil && !t.Diagnosis.Ready {
				tryErr = exitStatus(exitFailed)
			}
			all, err = append(all, t), errors.Join(err, kernelError(tryErr))
		}
		return all, err
	}, func(w io.Writer, all []guests.KernelTest) (err error) {
		for _, t := range all {
			err = errors.Join(err, printKernelTest(w, t))
		}
		return err
	})
	versionFlag(c, &version, "")
	return c
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
		fmt.Fprintf(w, "Labs run on it: try aqmlab run quickstart %s.\n", toRunOn(t.Kernel))
	}
	return nil
}

// toRunOn are the flags with which run takes a kernel.
func toRunOn(k uml.Kernel) string {
	if k.Version == labs.DefaultKernel {
		return "--runtime uml"
	}
	return "--kernel " + k.Version
}

// kernelError marks what the user must install or build first.
func kernelError(err error) error {
	if errors.Is(err, uml.ErrUnavailable) || errors.Is(err, uml.ErrVersion) {
		return usage(err)
	}
	return err
}
