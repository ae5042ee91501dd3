//go:build linux

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"aqmlab/orchestrator/guests"
	"aqmlab/orchestrator/uml"
)

func newKernelInstall() *cobra.Command {
	var o uml.InstallOptions
	c := &cobra.Command{
		Use:   "install FILE",
		Short: "Install a guest kernel of a release",
		Long: `Install puts the guest kernel of a release, aqmlab-kernel-*-amd64.tar.gz, into the
user's cache, so that none has to be built. The file must have the SHA-256 that
SHA256SUMS beside it says, or --sha256. The kernel must be for this version of aqmlab,
and is tested before it takes the place of another. This needs no root.`,
		Example: "  aqmlab kernel install aqmlab-kernel-6.1.192-amd64.tar.gz",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var tried guests.KernelTest
			o.File, o.Try = args[0], tryInto(c, &tried)
			o.Say = func(text string) { fmt.Fprintln(c.ErrOrStderr(), text) }
			defer hold(c)()
			if _, err := uml.Install(c.Context(), o); err != nil {
				return kernelError(err)
			}
			return printKernelTest(c.OutOrStdout(), tried)
		},
	}
	c.Flags().StringVar(&o.Sum, "sha256", "", "SHA-256 that the file must have (default: as SHA256SUMS beside it says)")
	return c
}

func newKernelPack() *cobra.Command {
	var o uml.PackOptions
	c := &cobra.Command{
		Use:   "pack",
		Short: "Write a guest kernel as a file for others, with its source",
		Long: `Pack writes a guest kernel as a file that aqmlab kernel install takes, and a file with
the whole source that it was built from. The licenses of Linux and of the C library in
the kernel ask for that: publish both files at the same place. The same kernel and source
give the same bytes.`,
		Example: "  aqmlab kernel pack --out dist",
		RunE: func(c *cobra.Command, _ []string) error {
			files, err := uml.Pack(o)
			for _, file := range files {
				fmt.Fprintln(c.OutOrStdout(), file)
			}
			return kernelError(err)
		},
	}
	versionFlag(c, &o.Version, uml.Versions()[0])
	c.Flags().StringVar(&o.Source, "source", "", "archive that the kernel was built from (default: where it was then)")
	c.Flags().StringVar(&o.Libc, "libc", "", "folder with the source of the C library (default: the package glibc-source)")
	c.Flags().StringVar(&o.Out, "out", ".", "folder of the files")
	return c
}
