package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
)

// Where the image has the program, and where it works: the folder that users mount.
const (
	imageBinary = "usr/local/bin/aqmlab"
	imageWork   = "work"
)

// writeImage writes an image with the program and nothing else than its licenses: the
// layout of OCI in one file, with the index that older engines read (docker load).
func writeImage(p program, papers []paper, file string) error {
	raw, err := layer(p, papers)
	if err != nil {
		return err
	}
	packed, err := zipped(raw)
	if err != nil {
		return err
	}
	config, err := json.Marshal(configOf(p, digest.FromBytes(raw)))
	if err != nil {
		return err
	}
	blobs := map[string][]byte{}
	blob := func(kind string, text []byte) v1.Descriptor {
		d := v1.Descriptor{MediaType: kind, Digest: digest.FromBytes(text), Size: int64(len(text))}
		blobs[blobPath(d)] = text
		return d
	}
	about := v1.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageManifest,
		Config: blob(v1.MediaTypeImageConfig, config), Layers: []v1.Descriptor{blob(v1.MediaTypeImageLayerGzip, packed)},
	}
	manifest, err := json.Marshal(about)
	if err != nil {
		return err
	}
	top := blob(v1.MediaTypeImageManifest, manifest)
	top.Platform = &v1.Platform{OS: "linux", Architecture: p.arch}
	index := v1.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageIndex}
	var names []string
	for _, tag := range []string{strings.ReplaceAll(p.version, "+", "-"), "latest"} { // tags have no plus
		top.Annotations = map[string]string{v1.AnnotationRefName: tag, "io.containerd.image.name": "docker.io/library/aqmlab:" + tag}
		index.Manifests = append(index.Manifests, top)
		names = append(names, "aqmlab:"+tag)
	}
	older := []map[string]any{{"Config": blobPath(about.Config), "Layers": []string{blobPath(about.Layers[0])}, "RepoTags": names}}
	for name, value := range map[string]any{v1.ImageLayoutFile: v1.ImageLayout{Version: v1.ImageLayoutVersion}, v1.ImageIndexFile: index, "manifest.json": older} {
		if blobs[name], err = json.Marshal(value); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	if err := archive(&b, p.made, blobs); err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}

// blobPath is where the layout has what is described.
func blobPath(d v1.Descriptor) string {
	return path.Join("blobs", d.Digest.Algorithm().String(), d.Digest.Encoded())
}

// layer is the file system of the image.
func layer(p program, papers []paper) ([]byte, error) {
	binary, err := os.ReadFile(p.path)
	if err != nil {
		return nil, err
	}
	in := map[string][]byte{imageBinary: binary, "tmp/": nil, imageWork + "/": nil}
	for _, paper := range papers {
		if paper.license && paper.only != "rpm" {
			in[strings.TrimPrefix(path.Join(paper.dir, paper.name), "/")] = paper.text
		}
	}
	var b bytes.Buffer
	err = archive(&b, p.made, in)
	return b.Bytes(), err
}

// configOf says how the program is run.
func configOf(p program, layer digest.Digest) v1.Image {
	labels := map[string]string{
		v1.AnnotationTitle: "aqmlab", v1.AnnotationDescription: "Compare ECN and AQM schemes for datacenters",
		v1.AnnotationVersion: p.version, v1.AnnotationLicenses: "Apache-2.0", v1.AnnotationCreated: p.made.Format(time.RFC3339),
	}
	if p.revision != "" {
		labels[v1.AnnotationRevision] = p.revision
	}
	return v1.Image{
		Created: &p.made, Platform: v1.Platform{OS: "linux", Architecture: p.arch},
		Config: v1.ImageConfig{
			Entrypoint: []string{"/" + imageBinary}, Cmd: []string{"--help"}, WorkingDir: "/" + imageWork, Labels: labels,
			Env: []string{"PATH=/usr/local/bin", "HOME=/tmp"},
		},
		RootFS: v1.RootFS{Type: "layers", DiffIDs: []digest.Digest{layer}},
	}
}

// archive writes files in the order of their names. A name with a slash at its end is a
// folder that anybody may write to.
func archive(b *bytes.Buffer, made time.Time, all map[string][]byte) error {
	w := tar.NewWriter(b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(all[name])), Mode: 0o644, ModTime: made, Format: tar.FormatUSTAR}
		switch {
		case strings.HasSuffix(name, "/"):
			h.Typeflag, h.Mode = tar.TypeDir, 0o1777
		case name == imageBinary:
			h.Mode = 0o755
		}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		if _, err := w.Write(all[name]); err != nil {
			return err
		}
	}
	return w.Close()
}
