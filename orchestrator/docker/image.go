package docker

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/image"
)

// imageName is the name of aqmlab's own image. Its tag is a hash of the program
// inside, so that a container never runs another build than its owner.
const imageName = "aqmlab"

// ownProgram is where the program is in its own image.
const ownProgram = "/usr/local/bin/aqmlab"

// Image is an image that was made.
type Image struct {
	Reference string   `json:"reference"`
	Tags      []string `json:"tags,omitempty"` // its further names
	ID        string   `json:"id"`
	Bytes     int64    `json:"bytes"`
}

// BuildImage makes aqmlab's own image, under the name that runs look for, and
// gives it further names. It is there at once if it was made before.
func (e *Engine) BuildImage(ctx context.Context, tags ...string) (Image, error) {
	ref, err := e.ensureImage(ctx)
	if err != nil {
		return Image{}, err
	}
	for _, tag := range tags {
		if err := e.api.ImageTag(ctx, ref, tag); err != nil {
			return Image{}, fmt.Errorf("naming image %s %s: %w", ref, tag, err)
		}
	}
	made, err := e.api.ImageInspect(ctx, ref)
	if err != nil {
		return Image{}, fmt.Errorf("looking at image %s: %w", ref, err)
	}
	return Image{Reference: ref, Tags: tags, ID: made.ID, Bytes: made.Size}, nil
}

// ensureImage returns the reference of aqmlab's own image, which it makes
// unless it is there.
func (e *Engine) ensureImage(ctx context.Context) (string, error) {
	sum, err := hash(e.program)
	if err != nil {
		return "", fmt.Errorf("reading the program for the image: %w", err)
	}
	ref := imageName + ":" + sum
	found, err := e.HasImage(ctx, ref)
	if err != nil || found {
		return ref, err
	}
	if err := e.importImage(ctx, ref); err != nil {
		return "", fmt.Errorf("making image %s: %w", ref, err)
	}
	return ref, e.removeSuperseded(ctx, ref)
}

// HasImage tells whether the daemon has an image. None is ever pulled.
func (e *Engine) HasImage(ctx context.Context, ref string) (bool, error) {
	_, err := e.api.ImageInspect(ctx, ref)
	if err != nil && !errdefs.IsNotFound(err) {
		return false, fmt.Errorf("looking for image %s: %w", ref, err)
	}
	return err == nil, nil
}

// importImage makes the image of a tar that holds the program alone.
func (e *Engine) importImage(ctx context.Context, ref string) error {
	read, write := io.Pipe()
	defer read.Close() // ends the writer, too
	go func() { write.CloseWithError(writeTar(write, e.program)) }()
	answer, err := e.api.ImageImport(ctx, image.ImportSource{Source: read, SourceName: "-"}, ref, image.ImportOptions{
		Message: "made by aqmlab of its own binary",
		Changes: []string{`ENTRYPOINT ["` + ownProgram + `"]`},
	})
	if err != nil {
		return err
	}
	defer answer.Close()
	return readAnswer(answer)
}

// writeTar writes a file system with nothing but the program.
func writeTar(w io.Writer, program string) error {
	f, err := os.Open(program)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	t := tar.NewWriter(w)
	header := &tar.Header{Name: ownProgram[1:], Mode: 0o755, Size: info.Size(), ModTime: info.ModTime()}
	if err := t.WriteHeader(header); err != nil {
		return err
	}
	if _, err := io.Copy(t, f); err != nil {
		return err
	}
	return t.Close()
}

// readAnswer reads what the daemon says while it works, which may be an error.
func readAnswer(r io.Reader) error {
	for d := json.NewDecoder(r); ; {
		var line struct {
			Error string `json:"error"`
		}
		err := d.Decode(&line)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("reading the daemon's answer: %w", err)
		case line.Error != "":
			return errors.New(line.Error)
		}
	}
}

// keepFor is how long an image stays that another build of this program made:
// a run of that build may be about to use it.
const keepFor = time.Hour

// removeSuperseded removes the images of other builds, unless somebody uses
// them or has given them a name of his own.
func (e *Engine) removeSuperseded(ctx context.Context, current string) error {
	all, err := e.api.ImageList(ctx, image.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing images: %w", err)
	}
	ours := regexp.MustCompile(`^` + imageName + `:[0-9a-f]{12}$`)
	for _, i := range all {
		if time.Since(time.Unix(i.Created, 0)) < keepFor {
			continue
		}
		for _, tag := range i.RepoTags {
			if tag == current || !ours.MatchString(tag) {
				continue
			}
			_, err := e.api.ImageRemove(ctx, tag, image.RemoveOptions{})
			if err != nil && !errdefs.IsNotFound(err) && !errdefs.IsConflict(err) {
				return fmt.Errorf("removing image %s of another build: %w", tag, err)
			}
		}
	}
	return nil
}

// hash is the first twelve hexadecimal digits of a file's SHA-256.
func hash(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)[:6]), nil
}
