// Package serve shows a folder of runs in a browser: the list, reports that
// compare chosen runs, and the runs and sweeps that are being made. Where a [Runner]
// is given, runs can be started, too. It only answers requests that were meant for
// this machine and show a token.
package serve

import (
	"bytes"
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"aqmlab/results"
	"aqmlab/results/report"
	"aqmlab/results/store"
)

//go:embed page
var files embed.FS

// Content is what is served.
type Content struct {
	Runs   string // folder
	Sweeps Sweeps // nil: there are none
	Token  string // that requests must show; empty: none
	Runner Runner // nil: no runs are started. It has no use without a token.
}

// Handler answers requests about runs and sweeps.
//
//	GET /                    the page of runs, and what pages load
//	GET /sweeps.html         the page of sweeps
//	GET /api/runs            every run: [Run]
//	GET /api/live            those that are being made: [Growing]
//	GET /api/sweeps          every sweep: [results.SweepStatus]
//	GET /report?run=NAME     a report about one or more runs; &baseline=SCHEME
//	GET /response?sweep=NAME what a sweep has measured so far
//	GET /api/jobs            the runs that were started from here: {"allowed", "jobs": [Job]}
//	GET /api/offer           what can be run: [Offer]
//	POST /api/start          start a run: [Order], answered by its [Job]
//	POST /api/stop           interrupt one: {"id"}
func Handler(c Content) http.Handler {
	jobs := jobPages{c.Runner}
	if c.Token == "" {
		jobs.runner = nil
	}
	s, sweeps := &server{root: c.Runs, made: &factCache{seen: make(map[string]Facts)}}, sweepPages{c.Sweeps}
	page, err := fs.Sub(files, "page")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(page))
	mux.HandleFunc("GET /api/runs", answer(s.runs))
	mux.HandleFunc("GET /api/live", answer(s.live))
	mux.HandleFunc("GET /api/sweeps", answer(sweeps.list))
	mux.HandleFunc("GET /report", s.report)
	mux.HandleFunc("GET /response", sweeps.response)
	mux.HandleFunc("GET /api/jobs", answer(jobs.list))
	mux.HandleFunc("GET /api/offer", jobs.allowed(answer(func() (Offer, error) { return jobs.runner.Offer() })))
	mux.HandleFunc("POST /api/start", jobs.allowed(jobs.start))
	mux.HandleFunc("POST /api/stop", jobs.allowed(jobs.stop))
	return guard(http.NewCrossOriginProtection().Handler(keyed(c.Token, mux)))
}

// guard refuses what a page of elsewhere may have a browser ask, and has
// browsers load nothing from elsewhere.
func guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A name of elsewhere that resolves to this machine (DNS rebinding) would
		// make its pages ours. The port is not looked at: it may be forwarded.
		if !here(r.Host) {
			http.Error(w, fmt.Sprintf("host %q is not this machine: want localhost or a loopback address", r.Host), http.StatusForbidden)
			return
		}
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// here tells whether a Host header names this machine.
func here(host string) bool {
	name := (&url.URL{Host: host}).Hostname()
	ip, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && ip.IsLoopback()
}

type server struct {
	root string
	made *factCache
}

// Run is one line of the list.
type Run struct {
	store.Entry
	Facts
}

// runs lists every run, the newest first.
func (s *server) runs() ([]Run, error) {
	entries, err := store.List(s.root)
	if err != nil {
		return nil, err
	}
	list := make([]Run, 0, len(entries))
	for _, e := range slices.Backward(entries) {
		list = append(list, Run{e, s.made.read(e)})
	}
	return list, nil
}

// Growing is a run that is being made.
type Growing struct {
	store.Entry
	Live *results.Live `json:"live"` // null until its first point has begun
}

// live lists the runs that are being made.
func (s *server) live() ([]Growing, error) {
	entries, err := store.Growing(s.root)
	if err != nil {
		return nil, err
	}
	list := make([]Growing, 0, len(entries))
	for _, e := range entries {
		g := Growing{Entry: e}
		l, err := store.ReadLive(e.Dir)
		switch {
		case err == nil:
			g.Live = &l
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
		list = append(list, g)
	}
	return list, nil
}

// report answers with a page about the runs that are asked for.
func (s *server) report(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	runs, err := s.open(q["run"])
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	var page bytes.Buffer
	if err := report.Write(&page, runs, q.Get("baseline")); err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	sendPage(w, page.Bytes())
}

// open opens runs by the names of their folders, which must be in the root
// itself.
func (s *server) open(names []string) ([]*store.Run, error) {
	if len(names) == 0 {
		return nil, errors.New("no run is asked for: want run=NAME, once or more")
	}
	there, err := os.ReadDir(s.root)
	if err != nil {
		return nil, fmt.Errorf("listing runs: %w", err)
	}
	var runs []*store.Run
	for _, name := range names {
		if !slices.ContainsFunc(there, func(d fs.DirEntry) bool { return d.IsDir() && d.Name() == name }) {
			return nil, fmt.Errorf("there is no run %q in %s", name, s.root)
		}
		run, err := store.Open(filepath.Join(s.root, name))
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// Facts are what the list shows of a run beside its entry.
type Facts struct {
	Schemes  []string  `json:"schemes"`
	Loads    []float64 `json:"loads"`
	Seeds    []uint64  `json:"seeds"`
	Fidelity string    `json:"fidelity"` // the label of its worst point; empty without any
}

// factCache remembers the facts of complete runs, which do not change.
type factCache struct {
	mu   sync.Mutex
	seen map[string]Facts // by the name of the folder
}

// read reads the facts of a run; a broken one has none.
func (f *factCache) read(e store.Entry) Facts {
	f.mu.Lock()
	defer f.mu.Unlock()
	if known, ok := f.seen[e.Name]; ok && e.State == results.Complete {
		return known
	}
	run, err := store.Open(e.Dir)
	if err != nil {
		return Facts{} // the entry says why
	}
	m := run.Manifest
	facts := Facts{Schemes: m.Schemes, Loads: m.Loads, Seeds: m.Seeds}
	for _, p := range m.Points {
		if facts.Fidelity == "" || p.Fidelity.Low() {
			facts.Fidelity = p.Fidelity.Label
		}
	}
	if e.State == results.Complete {
		f.seen[e.Name] = facts
	}
	return facts
}

// Address is the only one that is served. Other machines come by SSH's forwarding.
// Other users of this machine reach it, too, so the URL has a token.
const Address = "127.0.0.1"

// Timeouts against clients that hang.
const (
	headerTimeout = 10 * time.Second
	leaveTimeout  = 3 * time.Second
)

// Listen serves content, under a token of its own, at a TCP port until ctx ends, which
// is no error. Port 0 is any that is free. ready is told the URL once requests are
// answered.
func Listen(ctx context.Context, content Content, port uint16, ready func(url string)) error {
	l, err := net.Listen("tcp4", fmt.Sprintf("%s:%d", Address, port))
	if err != nil {
		return fmt.Errorf("serving %s: %w", content.Runs, err)
	}
	content.Token = rand.Text()
	server := &http.Server{Handler: Handler(content), ReadHeaderTimeout: headerTimeout}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	ready("http://" + l.Addr().String() + "/?" + url.Values{tokenKey: {content.Token}}.Encode())
	select {
	case err = <-ended:
		return fmt.Errorf("serving %s: %w", content.Runs, err)
	case <-ctx.Done():
	}
	leave, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	err = server.Shutdown(leave)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	if err != nil {
		return fmt.Errorf("serving %s: %w", content.Runs, err)
	}
	return nil
}
