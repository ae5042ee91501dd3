package serve_test

import (
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"aqmlab/e2e/browsertest"
	"aqmlab/results"
	"aqmlab/results/serve"
)

// sweeps is one sweep, of which a test says how far it is.
type sweeps struct {
	mu  sync.Mutex
	now results.SweepStatus
}

func (s *sweeps) set(now results.SweepStatus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = now
}

func (s *sweeps) List() ([]results.SweepStatus, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return []results.SweepStatus{s.now, {Name: "torn", Broken: "unexpected <i>end</i>"}}, nil
}

func (s *sweeps) Page(name string, w io.Writer) error {
	if name != s.now.Name {
		return fmt.Errorf("no sweep %q: %w", name, fs.ErrNotExist)
	}
	_, err := io.WriteString(w, "<!DOCTYPE html><title>response</title><p id=curves>curves")
	return err
}

// swept is a sweep whose cells are in these states.
func swept(droptail, tcn string) results.SweepStatus {
	count := func(state results.CellState) int { return strings.Count(droptail+tcn, string(rune(state))) }
	s := results.SweepStatus{
		Name: "star & <b>1</b>", Lab: "star", Runtime: "sim", Created: time.Date(2026, 3, 29, 2, 30, 0, 0, time.UTC),
		Points: 8, Stored: count(results.CellStored), Failed: count(results.CellFailed), Measuring: count(results.CellMeasuring),
		Columns: []string{"load 0.5", "load 0.5", "load 0.9", "load 0.9"}, Seeds: []uint64{1, 2, 1, 2},
		Rows: []results.SweepRow{{Label: "droptail", Cells: droptail}, {Label: "tcn, threshold 50us", Cells: tcn}},
	}
	if i := strings.IndexByte(tcn, 'f'); i >= 0 {
		s.Failures = []results.SweepFailure{{Row: 1, Column: i, Label: "tcn at load 0.5, seed 2", Reason: "the <b>kernel</b> panicked"}}
	}
	if s.Measuring > 0 {
		s.Left = 150
	}
	return s
}

// colours are the states of all cells, as their classes say.
const colours = `[...document.querySelectorAll(".cells tbody tr")].map(r => [...r.querySelectorAll("td")].map(c => c.className.slice(-1)).join("")).join("/")`

// The grid fills while one looks, and leads to what is measured.
func TestSweepsInChromium(t *testing.T) {
	fill := &sweeps{}
	fill.set(swept("wwww", "wwww"))
	server := httptest.NewServer(serve.Handler(serve.Content{Runs: t.TempDir(), Sweeps: fill}))
	defer server.Close()
	ctx, seen := browsertest.Open(t)
	browsertest.Do(ctx, t, chromedp.Navigate(server.URL), chromedp.Click(chromedp.CSS(`nav a`)), chromedp.WaitVisible(chromedp.CSS(".legend")))
	browsertest.Do(ctx, t, browsertest.Until(colours+` === "wwww/wwww"`))
	if text := browsertest.Value[string](ctx, t, `document.body.innerText`); !strings.Contains(text, "0 of 8 stored (0 %)") || !strings.Contains(text, "nobody measures") || !strings.Contains(text, "unexpected <i>end</i>") {
		t.Errorf("the page says %q", text)
	}
	if n := browsertest.Value[int](ctx, t, `document.querySelectorAll(".sweep a:not([hidden])").length`); n != 0 {
		t.Error("a link leads to what is not measured")
	}

	fill.set(swept("ssmw", "sfww"))
	browsertest.Do(ctx, t, browsertest.Until(colours+` === "ssmw/sfww"`))
	text := browsertest.Value[string](ctx, t, `document.body.innerText`)
	for _, want := range []string{"star & <b>1</b>", "3 of 8 stored (37 %)", "1 failed", "1 being measured", "3 waiting", "about 3 min left", "tcn at load 0.5, seed 2: the <b>kernel</b> panicked"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q: %q", want, text)
		}
	}
	if n := browsertest.Value[int](ctx, t, `new Set([..."wmsf"].map(s => getComputedStyle(document.querySelector(".cells .cell." + s)).backgroundColor)).size`); n != 4 {
		t.Errorf("%d colours for four states", n)
	}
	for state, want := range map[string]string{
		"f": "tcn, threshold 50us, load 0.5, seed 2: failed: the <b>kernel</b> panicked", "m": "droptail, load 0.9, seed 1: being measured",
	} {
		over := `(() => { const c = document.querySelector(".cells .cell.` + state + `"); c.dispatchEvent(new MouseEvent("mouseover", {bubbles: true})); return c.title; })()`
		if got := browsertest.Value[string](ctx, t, over); got != want {
			t.Errorf("the tooltip is %q, want %q", got, want)
		}
	}

	fill.set(swept("ssss", "ssss"))
	browsertest.Do(ctx, t, browsertest.Until(colours+` === "ssss/ssss"`), chromedp.Click(chromedp.CSS(`.sweep a`)), chromedp.WaitVisible(chromedp.CSS("#curves")))
	_, requests := seen.All()
	for _, url := range requests {
		if !strings.HasPrefix(url, server.URL) {
			t.Errorf("asked for %s", url)
		}
	}
}

// TestSweepPages: without a store of sweeps there are none, and with one those that it has.
func TestSweepPages(t *testing.T) {
	none := serve.Handler(serve.Content{Runs: t.TempDir()})
	if got := answer[[]results.SweepStatus](t, none, "/api/sweeps"); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	one := &sweeps{now: results.SweepStatus{Name: "one"}}
	some := serve.Handler(serve.Content{Runs: t.TempDir(), Sweeps: one})
	for _, c := range []struct {
		handler http.Handler
		query   string
		code    int
	}{{none, "?sweep=one", http.StatusNotFound}, {some, "?sweep=one", http.StatusOK}, {some, "?sweep=two", http.StatusNotFound}, {some, "", http.StatusNotFound}} {
		w := ask(t, c.handler, "/response"+c.query)
		if w.Code != c.code {
			t.Errorf("%q: %d %s, want %d", c.query, w.Code, w.Body, c.code)
		}
		if policy := w.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe-inline") != (c.code == http.StatusOK) {
			t.Errorf("%q: %s", c.query, policy)
		}
	}
}
