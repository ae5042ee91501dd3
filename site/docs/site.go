package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed page.html.tmpl
var layout string

//go:embed site.css
var style []byte

//go:embed search.js
var search []byte

// site is what is being made.
type site struct {
	root  string          // of the repository
	out   string          // folder of the site
	pages map[string]bool // all, as they are called in the repository
}

// entry is a line of the navigation.
type entry struct {
	Title, URL string
	Here       bool
}

// group is a section of the navigation.
type group struct {
	Title   string
	Entries []entry
}

// content is what a page's template gets.
type content struct {
	Title   string
	Up      string // the way to the root of the site
	Body    template.HTML
	Groups  []group
	Play    string // the way to the simulator
	Headers []part // headings of the second level
}

// write makes all pages, and checks that every link between them leads somewhere.
func (s *site) write(texts map[string][]byte) error {
	s.pages = make(map[string]bool)
	for _, part := range sections() {
		for _, p := range part.pages {
			s.pages[p.from] = true
		}
	}
	all := make(map[string]made)
	for from := range s.pages {
		source, given := texts[from]
		if !given {
			var err error
			if source, err = os.ReadFile(filepath.Join(s.root, from)); err != nil {
				return fmt.Errorf("reading a page: %w", err)
			}
		}
		m, err := s.render(from, source)
		if err != nil {
			return fmt.Errorf("rendering a page: %w", err)
		}
		all[from] = m
	}
	if err := check(all); err != nil {
		return err
	}
	for from, m := range all {
		if err := s.writePage(from, m, all); err != nil {
			return err
		}
	}
	return errors.Join(s.put("site.css", style), s.put("search.js", search), s.writeIndex(all))
}

// check wants every link to have a page, and a heading on it.
func check(all map[string]made) error {
	ids := make(map[string]map[string]bool)
	for from, m := range all {
		ids[target(from)] = m.ids
	}
	var wrong []error
	for from, m := range all {
		for _, link := range m.links {
			file, heading, _ := strings.Cut(link, "#")
			known, isPage := ids[file]
			if !isPage && !slices.ContainsFunc(m.copies, func(c string) bool { return target(c) == file }) || heading != "" && isPage && !known[heading] {
				wrong = append(wrong, fmt.Errorf("%s: the link to %s leads nowhere", from, link))
			}
		}
	}
	return errors.Join(wrong...)
}

func (s *site) writePage(from string, m made, all map[string]made) error {
	here := target(from)
	c := content{Title: m.title, Up: relative(here, "."), Body: template.HTML(m.html), Play: relative(here, "play/index.html")}
	for _, part := range sections() {
		g := group{Title: part.title}
		for _, p := range part.pages {
			title := p.name
			if title == "" {
				title = all[p.from].title
			}
			g.Entries = append(g.Entries, entry{title, relative(here, target(p.from)), p.from == from})
		}
		c.Groups = append(c.Groups, g)
	}
	t, err := template.New("page").Parse(layout)
	if err != nil {
		return fmt.Errorf("parsing the layout of pages: %w", err)
	}
	var b strings.Builder
	if err := t.Execute(&b, c); err != nil {
		return fmt.Errorf("laying out %s: %w", from, err)
	}
	for _, copied := range m.copies {
		data, err := os.ReadFile(filepath.Join(s.root, copied))
		if err == nil {
			err = s.put(copied, data)
		}
		if err != nil {
			return fmt.Errorf("copying what %s shows: %w", from, err)
		}
	}
	return s.put(here, []byte(b.String()))
}

// found is what the search looks through: a heading, its page, and the text below it.
type found struct {
	URL   string `json:"u"`
	Page  string `json:"p"`
	Title string `json:"t"`
	Text  string `json:"x"`
}

// writeIndex writes the index of the search as a script, which a page may load from a
// disk, too.
func (s *site) writeIndex(all map[string]made) error {
	var index []found
	for _, part := range sections() {
		for _, p := range part.pages {
			for _, h := range all[p.from].parts {
				text := strings.Join(strings.Fields(h.Text), " ")
				index = append(index, found{target(p.from) + "#" + h.ID, all[p.from].title, h.Title, text})
			}
		}
	}
	data, err := json.Marshal(index)
	if err != nil {
		return fmt.Errorf("writing the index: %w", err)
	}
	return s.put("index.js", append(append([]byte("searchIndex("), data...), ");\n"...))
}

// put writes a file of the site.
func (s *site) put(name string, data []byte) error {
	path := filepath.Join(s.out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("writing the site: %w", err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return fmt.Errorf("writing the site: %w", err)
	}
	return nil
}
