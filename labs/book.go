package labs

import (
	"embed"
	"fmt"
	"strings"

	"aqmlab/kind"
)

//go:embed *.yaml
var book embed.FS

const extension = ".yaml"

// Entry is one lab of the lab book.
type Entry struct {
	Name  string // what [Load] takes
	Title string // one line
}

// Book lists the labs that ship with aqmlab, by name. The environment has no
// say in it.
func Book() ([]Entry, error) {
	var entries []Entry
	for _, name := range bookNames() {
		data, err := book.ReadFile(name + extension)
		if err != nil {
			return nil, fmt.Errorf("reading the lab book: %w", err)
		}
		l, err := Parse(name+extension, data)
		if err != nil {
			return nil, fmt.Errorf("reading the lab book: %w", err)
		}
		entries = append(entries, Entry{Name: name, Title: l.Title})
	}
	return entries, nil
}

// bookNames lists the names of the book in alphabetical order.
func bookNames() []string {
	files, err := book.ReadDir(".")
	if err != nil {
		panic(fmt.Sprintf("the root of an embedded file system: %v", err))
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), extension))
	}
	return names
}

// noLab says that the book has no lab of that name.
func noLab(name string) error {
	known := bookNames()
	err := fmt.Errorf("%w %q: want the path of a file, or one of the lab book: %s", ErrNoLab, name, strings.Join(known, ", "))
	if near := kind.Nearest(name, known); near != "" {
		err = fmt.Errorf("%w (did you mean %s?)", err, near)
	}
	return err
}
