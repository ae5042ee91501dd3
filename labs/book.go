package labs

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aqmlab/bounded"
	"aqmlab/kind"
	"aqmlab/labs/schema"
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
	Name  string `json:"name"`  // what [Load] takes
	Title string `json:"title"` // one line
}

// BookNames lists the names of the book in alphabetical order, those of folders
// after the others.
func BookNames() []string {
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

// bookName is the name of a lab of the book, which may be spelled as the experiment that it
// is of: tcn-fig3 is tcn/fig3. Empty: there is none.
func bookName(ref string) string {
	names := BookNames()
	if i := slices.IndexFunc(names, func(name string) bool { return name == ref || strings.ReplaceAll(name, "/", "-") == ref }); i >= 0 {
		return names[i]
	}
	return ""
}

// isPart tells whether a name of the book is that of a part of labs, and of no
// lab.
func isPart(name string) bool { return strings.Contains(name, "/parts/") }

// isBookName tells whether ref looks like the name of a lab in a folder of the
// book: a path of this machine that does not exist may well be meant as one.
func isBookName(ref string) bool {
	folder, _, ok := strings.Cut(ref, "/")
	return ok && slices.ContainsFunc(BookNames(), func(name string) bool { return strings.HasPrefix(name, folder+"/") })
}

// noLab says that the book has no lab of that name.
func noLab(name string) error {
	known := BookNames()
	err := fmt.Errorf("%w %q: want the path of a file, or one of the lab book: %s", ErrNoLab, name, strings.Join(known, ", "))
	if near := kind.Nearest(name, known); near != "" {
		err = fmt.Errorf("%w (did you mean %s?)", err, near)
	}
	return err
}

// findExtended looks for what a file extends: another lab, or a part that
// several labs share. It is either of the book, or a file, whose name starts from
// the folder of the file that extends it.
func findExtended(from schema.Source, ref string) (schema.Source, error) {
	if data, err := book.ReadFile(ref + extension); err == nil {
		return schema.Source{File: ref + extension, Data: data, BookOnly: true}, nil
	}
	if from.BookOnly {
		return schema.Source{}, fmt.Errorf("%w %q: want a lab or part of the lab book", ErrNoLab, ref)
	}
	path := ref
	if !filepath.IsAbs(ref) {
		path = filepath.Join(from.Dir, ref)
	}
	data, err := bounded.ReadFile(path, maxFile)
	if errors.Is(err, os.ErrNotExist) {
		return schema.Source{}, fmt.Errorf("%w %q: neither in the lab book nor the file %s", ErrNoLab, ref, path)
	}
	if err != nil {
		return schema.Source{}, fmt.Errorf("reading what the lab extends: %w", err)
	}
	return schema.Source{File: path, Dir: filepath.Dir(path), Data: data}, nil
}
