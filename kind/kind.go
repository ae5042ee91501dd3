// Package kind is the shape of the tables that everything selectable stands
// in: AQM schemes, schedulers, flow-size distributions, arrival processes,
// transports. A row has a name, a line of documentation, typed parameters
// with defaults, and a constructor; lab validation, `list` and `show`, and the
// conformance tests read the same rows.
package kind

import (
	"fmt"
	"reflect"
	"slices"
)

// Choice names a row and holds the raw parameters for it. It is plain data.
type Choice struct {
	Kind   string
	Params map[string]any
}

// Entry is what is to be read of a row.
type Entry struct {
	Name string `json:"name"`
	Doc  string `json:"doc"`            // one line, without a full stop
	Note string `json:"note,omitempty"` // whole sentences that `show` adds to the line; none when empty
	// Params are the parameters that a lab may set, in the order of their
	// declaration, with their defaults.
	Params []Param `json:"parameters"`
}

// Kind is one row: it makes a T in an environment E.
type Kind[E, T any] struct {
	Entry
	build func(raw map[string]any, env E) (T, error)
}

// Row makes a row from the default parameters and a constructor. P is a struct
// whose fields carry a `lab:"name"` and a `doc:"text"` tag, see [Field]; build gets it with
// a lab's values written over the defaults and validates it.
func Row[P, E, T any](name, doc string, defaults P, build func(P, E) (T, error)) Kind[E, T] {
	return Kind[E, T]{
		Entry: Entry{Name: name, Doc: doc, Params: describe(reflect.ValueOf(defaults))},
		build: func(raw map[string]any, env E) (made T, err error) {
			p := defaults
			if err := decode(raw, reflect.ValueOf(&p).Elem()); err != nil {
				return made, err
			}
			return build(p, env)
		},
	}
}

// Noting is the row with a note, see [Kind].
func (k Kind[E, T]) Noting(note string) Kind[E, T] {
	k.Note = note
	return k
}

// Table is a list of rows with distinct names.
type Table[E, T any] []Kind[E, T]

// Names lists the names of all rows, in their order.
func (t Table[E, T]) Names() []string {
	names := make([]string, len(t))
	for i, k := range t {
		names[i] = k.Name
	}
	return names
}

// Entries lists what is to be read of all rows.
func (t Table[E, T]) Entries() []Entry {
	entries := make([]Entry, len(t))
	for i, k := range t {
		entries[i] = k.Entry
	}
	return entries
}

// Find returns the row of that name. The error for an unknown name wraps
// [ErrUnknown], lists the known ones, and points out the one that looks alike.
func (t Table[E, T]) Find(name string) (Kind[E, T], error) {
	i := slices.IndexFunc(t, func(k Kind[E, T]) bool { return k.Name == name })
	if i < 0 {
		return Kind[E, T]{}, Unknown("kind", name, t.Names())
	}
	return t[i], nil
}

// New makes what the row of that name makes, from a lab's raw parameters.
// Errors name the parameter and what is allowed.
func (t Table[E, T]) New(name string, raw map[string]any, env E) (made T, err error) {
	k, err := t.Find(name)
	if err != nil {
		return made, err
	}
	made, err = k.build(raw, env)
	if err != nil {
		return made, fmt.Errorf("%s: %w", name, err)
	}
	return made, nil
}
