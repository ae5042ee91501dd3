package labs

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"aqmlab/kind"
	"aqmlab/labs/schema"
	"aqmlab/switch/port"
)

// Labs of a paper stand in its folder, and what several of them share in the
// folder's parts.
//
//go:embed *.yaml */*.yaml */parts/*.yaml
var book embed.FS

const extension = ".yaml"

// ErrNoLab is wrapped by the error for a name that the lab book does not have.
var ErrNoLab = errors.New("no such lab")

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
		l, err := FromBook(name, port.Kinds{})
		if err != nil {
			return nil, err
		}
		entries = append(entries, Entry{Name: name, Title: l.Title})
	}
	return entries, nil
}

// FromBook is a lab of the book as it is: neither the environment nor an
// override has a say in it. The error for a name that the book does not have
// wraps [ErrNoLab].
func FromBook(name string, kinds port.Kinds) (*Lab, error) {
	data, err := book.ReadFile(name + extension)
	if err != nil || isPart(name) {
		return nil, noLab(name)
	}
	l, err := read(schema.Source{File: name + extension, Data: data, BookOnly: true}, schema.Overrides{}, kinds)
	if err != nil {
		return nil, fmt.Errorf("reading the lab book: %w", err)
	}
	return l, nil
}

// bookNames lists the names of the book in alphabetical order, those of folders
// after the others.
func bookNames() []string {
	var names []string
	for _, pattern := range []string{"*", "*/*"} {
		files, err := fs.Glob(book, pattern+extension)
		if err != nil {
			panic(fmt.Sprintf("a pattern that is a constant: %v", err))
		}
		for _, f := range files {
			names = append(names, strings.TrimSuffix(f, extension))
		}
	}
	return names
}

// isPart tells whether a name of the book is that of a part of labs, and of no
// lab.
func isPart(name string) bool { return strings.Contains(name, "/parts/") }

// isBookName tells whether ref looks like the name of a lab in a folder of the
// book: a path of this machine that does not exist may well be meant as one.
func isBookName(ref string) bool {
	folder, _, ok := strings.Cut(ref, "/")
	return ok && slices.ContainsFunc(bookNames(), func(name string) bool { return strings.HasPrefix(name, folder+"/") })
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
