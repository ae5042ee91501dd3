// Command supply lists the modules that a Go program was built from, with their licenses
// and checksums: a table of text, a CycloneDX bill of materials, or the texts that their
// licenses ask to be passed on. A module without a license that is known to allow the use in
// a program of any license is an error.
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/CycloneDX/cyclonedx-go"
	classifier "github.com/google/licenseclassifier/v2"
	"github.com/google/licenseclassifier/v2/assets"
)

// allowed lists licenses that ask for no more than their text beside the program, and that
// changes to their own files are published (MPL-2.0).
func allowed() []string {
	return []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0", "Unlicense", "Zlib"}
}

// unstated lists modules that say nothing of their license, and why they are here all the
// same.
func unstated() map[string]string {
	return map[string]string{"github.com/steiler/acls": "containerlab requires it"}
}

// module is a dependency with what its own files say of it.
type module struct {
	Path, Version, Sum string
	Licenses           []string // SPDX identifiers
	Texts              []text   // that go with copies of it
}

func main() {
	bom := flag.String("bom", "", "also write a CycloneDX bill of materials to this `file`")
	notices := flag.String("notices", "", "also write the texts of all licenses to this `file`")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: supply [-bom FILE] [-notices FILE] PROGRAM")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *bom, *notices); err != nil {
		fmt.Fprintln(os.Stderr, "supply:", err)
		os.Exit(1)
	}
}

func run(program, bom, notices string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return fmt.Errorf("reading what %s was built from: %w", program, err)
	}
	modules, err := modulesOf(info.Deps)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, m := range modules {
		license := strings.Join(m.Licenses, ", ")
		if license == "" {
			license = "none stated: " + unstated()[m.Path]
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", m.Path, m.Version, license)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("printing the modules: %w", err)
	}
	if err := check(modules); err != nil {
		return err
	}
	if notices != "" {
		if err := writeNotices(notices, modules); err != nil {
			return err
		}
	}
	if bom == "" {
		return nil
	}
	return write(bom, info, modules)
}

// modulesOf asks the go command where the modules' files are.
func modulesOf(deps []*debug.Module) ([]module, error) {
	texts, err := assets.DefaultClassifier()
	if err != nil {
		return nil, fmt.Errorf("loading the texts of licenses: %w", err)
	}
	var all []module
	for _, d := range deps {
		if d.Replace != nil {
			d = d.Replace
		}
		out, err := exec.Command("go", "mod", "download", "-json", d.Path+"@"+d.Version).Output()
		if err != nil {
			return nil, fmt.Errorf("finding the files of %s: %w", d.Path, err)
		}
		var at struct{ Dir, Sum string }
		if err := json.Unmarshal(out, &at); err != nil {
			return nil, fmt.Errorf("finding the files of %s: %w", d.Path, err)
		}
		if at.Sum != d.Sum {
			return nil, fmt.Errorf("%s@%s: the program was built from %s, and the module cache has %s", d.Path, d.Version, d.Sum, at.Sum)
		}
		m := module{Path: d.Path, Version: d.Version, Sum: d.Sum}
		if m.Texts, err = textsIn(at.Dir); err != nil {
			return nil, fmt.Errorf("reading the licenses of %s: %w", d.Path, err)
		}
		m.Licenses = recognized(m.Texts, texts)
		all = append(all, m)
	}
	return all, nil
}

// recognized are the licenses that texts are known to be.
func recognized(texts []text, c *classifier.Classifier) (found []string) {
	for _, t := range texts {
		for _, match := range c.Match(t.Body).Matches {
			if match.MatchType == "License" && !slices.Contains(found, match.Name) {
				found = append(found, match.Name)
			}
		}
	}
	slices.Sort(found)
	return found
}

// check complains about modules whose license is not known to be allowed.
func check(modules []module) error {
	var wrong []error
	for _, m := range modules {
		if len(m.Licenses) == 0 && unstated()[m.Path] != "" {
			continue
		}
		if !slices.ContainsFunc(m.Licenses, func(l string) bool { return slices.Contains(allowed(), l) }) {
			wrong = append(wrong, fmt.Errorf("%s@%s: license %q: want one of %s", m.Path, m.Version, strings.Join(m.Licenses, ", "), strings.Join(allowed(), ", ")))
		}
	}
	return errors.Join(wrong...)
}

// write stores the bill of materials. It has no time and no random name: the same program
// gives the same bytes.
func write(path string, info *buildinfo.BuildInfo, modules []module) error {
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Component: &cyclonedx.Component{Type: cyclonedx.ComponentTypeApplication, Name: info.Main.Path}}
	parts := []cyclonedx.Component{{
		Type: cyclonedx.ComponentTypePlatform, Name: "Go", Version: info.GoVersion,
		Licenses: &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "BSD-3-Clause"}}},
	}}
	for _, m := range modules {
		var licenses cyclonedx.Licenses
		for _, id := range m.Licenses {
			licenses = append(licenses, cyclonedx.LicenseChoice{License: &cyclonedx.License{ID: id}})
		}
		url := "pkg:golang/" + m.Path + "@" + m.Version
		parts = append(parts, cyclonedx.Component{
			Type: cyclonedx.ComponentTypeLibrary, BOMRef: url, PackageURL: url, Name: m.Path, Version: m.Version, Licenses: &licenses,
			Properties: &[]cyclonedx.Property{{Name: "go:sum", Value: m.Sum}},
		})
	}
	bom.Components = &parts
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("writing the bill of materials: %w", err)
	}
	encoder := cyclonedx.NewBOMEncoder(file, cyclonedx.BOMFileFormatJSON)
	encoder.SetPretty(true)
	if err := errors.Join(encoder.Encode(bom), file.Close()); err != nil {
		return fmt.Errorf("writing the bill of materials %s: %w", path, err)
	}
	return nil
}
