package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// program is a static binary, and what it was built from.
type program struct {
	path     string
	arch     string // as Go calls it
	version  string // without the v
	revision string // of the sources; empty: unknown
	made     time.Time
}

// begin stands for the time of sources that are in no repository.
var begin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// readProgram reads what a binary says of itself.
func readProgram(path, arch string) (program, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return program{}, fmt.Errorf("reading what %s was built from: %w", path, err)
	}
	p := program{path: path, arch: arch, version: strings.TrimPrefix(info.Main.Version, "v"), made: begin}
	if p.version == "" || p.version == "(devel)" {
		p.version = "0.0.0"
	}
	settings := make(map[string]string)
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if settings["GOARCH"] != arch || settings["CGO_ENABLED"] != "0" {
		return program{}, fmt.Errorf("%s is no static program for %s: GOARCH is %s, CGO_ENABLED %s", path, arch, settings["GOARCH"], settings["CGO_ENABLED"])
	}
	p.revision = settings["vcs.revision"]
	if text := settings["vcs.time"]; text != "" {
		if p.made, err = time.Parse(time.RFC3339, text); err != nil {
			return program{}, fmt.Errorf("the time of the sources of %s: %w", path, err)
		}
	}
	return p, nil
}

// paper is a text that goes with the program.
type paper struct {
	dir     string // where packages put it
	name    string
	text    []byte
	only    string // format of packages that have it; empty: all
	license bool
}

const docDir = "/usr/share/doc/aqmlab"

// readPapers reads licenses, man pages and completions. The labs of the book are in the
// program itself.
func readPapers(root, dist string) ([]paper, error) {
	var all []paper
	var errs []error
	add := func(path string, p paper) {
		text, err := os.ReadFile(path)
		p.name, p.text = cmp.Or(p.name, filepath.Base(path)), text
		all, errs = append(all, p), append(errs, err)
	}
	add(filepath.Join(root, "LICENSE"), paper{dir: docDir, name: "copyright", only: "deb", license: true})
	add(filepath.Join(root, "LICENSE"), paper{dir: "/usr/share/licenses/aqmlab", only: "rpm", license: true})
	add(filepath.Join(root, "CHANGELOG.md"), paper{dir: docDir})
	for _, name := range []string{"LICENSES.txt", "NOTICES.txt"} {
		add(filepath.Join(dist, name), paper{dir: docDir, license: true})
	}
	completions := filepath.Join(dist, "manual", "completions")
	add(filepath.Join(completions, "aqmlab.bash"), paper{dir: "/usr/share/bash-completion/completions", name: "aqmlab"})
	add(filepath.Join(completions, "aqmlab.fish"), paper{dir: "/usr/share/fish/vendor_completions.d"})
	add(filepath.Join(completions, "_aqmlab"), paper{dir: "/usr/share/zsh/vendor-completions", only: "deb"})
	add(filepath.Join(completions, "_aqmlab"), paper{dir: "/usr/share/zsh/site-functions", only: "rpm"})
	pages, err := filepath.Glob(filepath.Join(dist, "manual", "man", "*.1"))
	if err == nil && len(pages) == 0 {
		err = fmt.Errorf("no man pages in %s: make manual writes them", dist)
	}
	for _, page := range pages {
		add(page, paper{dir: "/usr/share/man/man1", name: filepath.Base(page) + ".gz"})
	}
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	for i, p := range all {
		if strings.HasSuffix(p.name, ".gz") {
			if all[i].text, err = zipped(p.text); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// zipped is a text, compressed, without a time.
func zipped(text []byte) ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
