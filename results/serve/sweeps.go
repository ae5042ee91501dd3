package serve

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net/http"

	"aqmlab/results"
)

// Sweeps tells how far sweeps are. It is asked by several requests at once.
type Sweeps interface {
	// List says of all sweeps how far they are, the latest first.
	List() ([]results.SweepStatus, error)
	// Page writes what a sweep has measured so far as one self-contained page. The error
	// for a name that List does not have wraps [fs.ErrNotExist].
	Page(name string, w io.Writer) error
}

// sweepPages answers requests about sweeps; nil where there are none.
type sweepPages struct{ sweeps Sweeps }

// list lists the sweeps, the latest first.
func (s sweepPages) list() ([]results.SweepStatus, error) {
	if s.sweeps == nil {
		return []results.SweepStatus{}, nil
	}
	return s.sweeps.List()
}

// response answers with a page about the sweep that is asked for.
func (s sweepPages) response(w http.ResponseWriter, r *http.Request) {
	if s.sweeps == nil {
		http.Error(w, "there are no sweeps", http.StatusNotFound)
		return
	}
	var page bytes.Buffer
	err := s.sweeps.Page(r.URL.Query().Get("sweep"), &page)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		http.Error(w, err.Error(), http.StatusNotFound)
	case err != nil: // nothing is measured yet
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
	default:
		sendPage(w, page.Bytes())
	}
}
