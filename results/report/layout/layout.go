// Package layout is how reports look: the style and the parts of their pages, tables,
// and how words and numbers are set. Reports of runs and of sweeps share it.
package layout

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"aqmlab/results/report/figure"
)

//go:embed parts.html.tmpl
var parts string

// Write writes a page: the template executed with the content. It may use the
// parts "style" and "script" without content, "table" of a [Table], "figure" of a
// [figure.Figure], and "group" of what has a Title, a Note and Figures.
func Write(w io.Writer, page string, content any) error {
	inline := template.FuncMap{"svg": func(f figure.Figure) template.HTML { return template.HTML(f.SVG()) }}
	t, err := template.New("page").Funcs(inline).Parse(parts)
	if err == nil {
		t, err = t.New("report").Parse(page)
	}
	if err != nil {
		return fmt.Errorf("parsing the report's template: %w", err)
	}
	if err := t.Execute(w, content); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// Table is a table of text: a header, and rows with a cell for each of its columns.
type Table struct {
	Name, Title string // class and heading in HTML
	Wide        bool   // it may be wider than the page
	Head        []string
	Rows        [][]string
	Figures     []figure.Figure // below it
}

// Headed is the table with other words above its columns.
func (t Table) Headed(head ...string) Table {
	t.Head = head
	return t
}
