package main

import "path"

// page is a Markdown file of the repository that becomes a page of the site.
type page struct {
	from string // below the root of the repository
	name string // in the navigation; empty: its heading
}

// section is a part of the navigation.
type section struct {
	title string
	pages []page
}

// sections are all pages, in the order of the navigation.
func sections() []section {
	return []section{
		{"Begin", []page{
			{"README.md", "What aqmlab is"}, {"docs/install.md", ""}, {"docs/first-hour.md", ""}, {"docs/gallery.md", ""}, {"CONTRIBUTING.md", ""},
		}},
		{"How to", []page{
			{"docs/programs.md", ""}, {"docs/containerlab.md", ""}, {"docs/docker.md", ""}, {"docs/rack.md", ""}, {"docs/sweeps.md", ""},
			{"docs/reports.md", ""}, {"docs/results.md", ""}, {"docs/reproduction.md", ""},
		}},
		{"Reference", []page{
			{"docs/labs.md", ""}, {"docs/commands.md", ""}, {kindsPage, ""}, {manualPage, ""}, {"docs/collectors.md", ""},
		}},
		{"Explanation", []page{
			{"docs/runtimes.md", ""}, {"docs/sim.md", ""}, {"docs/uml.md", ""}, {"docs/fidelity.md", ""}, {"docs/architecture.md", ""},
			{"docs/truth.md", ""}, {"docs/agreement.md", ""}, {"docs/performance.md", ""}, {"docs/faults.md", ""}, {"docs/mutation.md", ""},
		}},
		{"What was found", []page{
			{"docs/findings.md", ""}, {"docs/field.md", ""}, {"docs/coexistence.md", ""}, {"docs/rfc7928.md", ""}, {"docs/l4s.md", ""},
			{"reproduce/record/README.md", "The record of all claims"},
		}},
	}
}

// Pages that are made from the code.
const (
	kindsPage  = "reference/kinds.md"
	manualPage = "reference/manual.md"
)

// target is where a file of the repository is in the site: pages in HTML, the README of a
// folder as its index.
func target(from string) string {
	dir, base := path.Split(from)
	switch {
	case base == "README.md":
		return dir + "index.html"
	case path.Ext(base) == ".md":
		return dir + base[:len(base)-len(".md")] + ".html"
	}
	return from
}
