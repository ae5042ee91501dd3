package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // the formats
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// recommended are packages with the programs that labs and their users call. The program is
// static and depends on none.
func recommended(format string) []string {
	if format == "rpm" {
		return []string{"iproute"}
	}
	return []string{"iproute2"}
}

// suggested are packages for some runtimes and collectors alone.
func suggested(format string) []string {
	if format == "rpm" {
		return []string{"moby-engine", "openssh-clients", "slurm"}
	}
	return []string{"docker.io", "openssh-client", "slurm-client"}
}

// writePackage writes a package of a format, and returns the name of its file.
func writePackage(p program, papers []paper, format, dist string) (name string, err error) {
	dir, err := os.MkdirTemp("", "aqmlab-release-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	contents, err := contentsOf(p, papers, format, dir)
	if err != nil {
		return "", err
	}
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "aqmlab", Arch: p.arch, Platform: "linux", Version: p.version, Release: "1",
		Section: "science", Priority: "optional", Maintainer: "The aqmlab authors", License: "Apache-2.0",
		Description:     "compare ECN and AQM schemes for datacenters\naqmlab runs datacenter networks with real Linux hosts and a software switch, or\nwith modelled hosts in virtual time. It replays the same flows under every scheme\nand compares their completion times.",
		MTime:           p.made,
		DisableGlobbing: true,
		Overridables: nfpm.Overridables{
			Recommends: recommended(format), Suggests: suggested(format), Contents: contents,
			Deb: nfpm.Deb{Compression: "gzip"},
			RPM: nfpm.RPM{Compression: "gzip", BuildHost: "aqmlab", Summary: "Compare ECN and AQM schemes for datacenters"},
		},
	})
	packager, err := nfpm.Get(format)
	if err != nil {
		return "", err
	}
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return "", err
	}
	name = packager.ConventionalFileName(info)
	f, err := os.Create(filepath.Join(dist, name))
	if err != nil {
		return "", err
	}
	return name, errors.Join(packager.Package(info, f), f.Close())
}

// contentsOf is what a package puts where. Texts lie in a folder meanwhile.
func contentsOf(p program, papers []paper, format, dir string) (files.Contents, error) {
	info := func(mode os.FileMode) *files.ContentFileInfo {
		return &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: p.made}
	}
	all := files.Contents{{Source: p.path, Destination: "/usr/bin/aqmlab", FileInfo: info(0o755)}}
	for i, paper := range papers {
		if paper.only != "" && paper.only != format {
			continue
		}
		source := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(source, paper.text, 0o644); err != nil {
			return nil, err
		}
		c := &files.Content{Source: source, Destination: path.Join(paper.dir, paper.name), FileInfo: info(0o644)}
		if paper.license && format == "rpm" {
			c.Type = files.TypeRPMLicense
		}
		all = append(all, c)
	}
	return all, nil
}
