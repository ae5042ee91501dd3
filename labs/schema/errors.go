package schema

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Error is one thing wrong with a file or with what is laid over it.
type Error struct {
	Source string // the file, the environment variable, or "--set"
	Line   int    // in the file; 0 where there is none
	Key    string // such as switch.scheduler.kind; empty when the file as a whole is to blame
	Err    error  // the offending value, and what is allowed
}

func (e *Error) Error() string {
	place := e.Source
	if e.Line > 0 {
		place += fmt.Sprintf(":%d", e.Line)
	}
	if e.Key != "" {
		place += ": " + e.Key
	}
	return place + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Errors is everything wrong: what is in the file by line, then what
// is in the environment and in --set.
type Errors []*Error

// Error prints one line an error.
func (es Errors) Error() string { return errors.Join(es.Unwrap()...).Error() }

// Unwrap lets errors.Is and errors.As look at each.
func (es Errors) Unwrap() []error {
	all := make([]error, len(es))
	for i, e := range es {
		all[i] = e
	}
	return all
}

// Sorted orders by place. What is wrong in the file of that name comes first.
func (es Errors) Sorted(file string) Errors {
	slices.SortStableFunc(es, func(a, b *Error) int {
		if aFile, bFile := a.Source == file, b.Source == file; aFile != bFile {
			if aFile {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Line, b.Line))
	})
	return es
}
