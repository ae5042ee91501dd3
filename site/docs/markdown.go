package main

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// made is a page as HTML.
type made struct {
	title   string
	html    string
	ids     map[string]bool
	links   []string // to other pages and files, from the root of the site, with the heading
	parts   []part
	copies  []string // files of the repository that it shows or leads to
	outside []string // links that the site has nothing for
}

// part is a heading and the text below it, for the search.
type part struct {
	ID, Title, Text string
}

// headingIDs names headings as GitHub does, so that links hold in both places.
type headingIDs map[string]int

var notInID = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// Generate makes the name of a heading; the second of one name ends in -1.
func (h headingIDs) Generate(value []byte, _ ast.NodeKind) []byte {
	id := strings.ReplaceAll(notInID.ReplaceAllString(strings.ToLower(string(value)), ""), " ", "-")
	n := h[id]
	h[id]++
	if n > 0 {
		id = fmt.Sprintf("%s-%d", id, n)
	}
	return []byte(id)
}

// Put is for names that a file gives itself, of which there are none.
func (h headingIDs) Put([]byte) {}

// render makes a page of Markdown that stands at a place in the repository.
func (s *site) render(from string, source []byte) (made, error) {
	md := goldmark.New(
		goldmark.WithExtensions(extension.GFM),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(html.WithUnsafe()), // comments, and what the pages of this repository have themselves
	)
	context := parser.NewContext(parser.WithIDs(make(headingIDs)))
	tree := md.Parser().Parse(text.NewReader(source), parser.WithContext(context))
	m := made{ids: make(map[string]bool)}
	err := ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			s.visit(&m, from, n, source)
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return m, err
	}
	var b bytes.Buffer
	if err := md.Renderer().Render(&b, source, tree); err != nil {
		return m, fmt.Errorf("%s: %w", from, err)
	}
	m.html = b.String()
	return m, nil
}

// visit notes headings and text, and turns links to where they lead in the site.
func (s *site) visit(m *made, from string, n ast.Node, source []byte) {
	switch n := n.(type) {
	case *ast.Heading:
		id := idOf(n)
		m.ids[id] = true
		title := plain(n, source)
		if m.title == "" {
			m.title = title
		}
		m.parts = append(m.parts, part{ID: id, Title: title})
	case *ast.Link:
		n.Destination = []byte(s.lead(m, from, string(n.Destination)))
	case *ast.Image:
		n.Destination = []byte(s.lead(m, from, string(n.Destination)))
	case *ast.Text, *ast.String, *ast.CodeBlock, *ast.FencedCodeBlock:
		if len(m.parts) > 0 {
			m.parts[len(m.parts)-1].Text += plain(n, source) + " "
		}
	}
}

// lead is where a link leads in the site, from a page. A folder without a page leads
// nowhere: the site has no browser of sources.
func (s *site) lead(m *made, from, to string) string {
	file, heading, _ := strings.Cut(to, "#")
	if strings.Contains(file, ":") {
		return to
	}
	if heading != "" {
		heading = "#" + heading
	}
	if file == "" {
		m.links = append(m.links, target(from)+heading)
		return heading
	}
	at := path.Join(path.Dir(from), file)
	info, err := os.Stat(filepath.Join(s.root, at))
	switch {
	case s.pages[at]:
	case err == nil && info.IsDir() && s.pages[path.Join(at, "README.md")]:
		at = path.Join(at, "README.md")
	case err == nil && !info.IsDir() && info.Size() < 1<<20:
		m.copies = append(m.copies, at)
	default:
		m.outside = append(m.outside, to)
		return to
	}
	m.links = append(m.links, target(at)+heading)
	return relative(target(from), target(at)) + heading
}

// relative is the way from one file of the site to another.
func relative(from, to string) string {
	way, err := filepath.Rel(filepath.Dir(from), to)
	if err != nil {
		panic(fmt.Sprintf("two relative names: %v", err))
	}
	return filepath.ToSlash(way)
}

func idOf(n ast.Node) string {
	if id, ok := n.AttributeString("id"); ok {
		if raw, ok := id.([]byte); ok {
			return string(raw)
		}
	}
	return ""
}

// plain is the text of a node.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	switch n := n.(type) {
	case *ast.Text:
		b.Write(n.Segment.Value(source))
	case *ast.String:
		b.Write(n.Value)
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		lines := n.Lines()
		for i := range lines.Len() {
			line := lines.At(i)
			b.Write(line.Value(source))
		}
	default:
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			b.WriteString(plain(c, source))
		}
	}
	return b.String()
}
