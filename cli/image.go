//go:build linux

package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"aqmlab/orchestrator/docker"
)

func newImage() *cobra.Command {
	return group("image", "Make the image of hosts that are containers", newImageBuild())
}

func newImageBuild() *cobra.Command {
	var tags []string
	c := shown(&cobra.Command{
		Use:   "build",
		Short: "Make the image of this program and tag it",
		Long: `Build imports this program, and nothing else, as an image into the Docker daemon
of this machine. It needs no Dockerfile, no registry and no network. Runs with
--runtime docker make the image by themselves; build it to give it a name of
your own. The image's own tag is a hash of the program, so that another build
makes another image; an image of an older build goes when a newer one is made,
unless it has another name or somebody uses it.`,
		Example: `  aqmlab image build
  aqmlab image build --tag registry.example.com/aqmlab:1.0`,
	}, func(c *cobra.Command, _ []string) (image docker.Image, err error) {
		defer hold(c)()
		engine, err := docker.Connect(c.Context(), "")
		if err != nil {
			return image, explain(err)
		}
		defer func() { err = errors.Join(err, engine.Close()) }()
		image, err = engine.BuildImage(c.Context(), tags...)
		return image, explain(err)
	}, func(w io.Writer, image docker.Image) error {
		fmt.Fprintf(w, "Image %s (%.1f MB) is there: %s\n", image.Reference, float64(image.Bytes)/1e6, image.ID)
		for _, tag := range image.Tags {
			fmt.Fprintf(w, "It is also called %s.\n", tag)
		}
		return nil
	})
	c.Flags().StringArrayVar(&tags, "tag", nil, "further name of the image (repeatable)")
	return c
}
