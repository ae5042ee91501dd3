package serve_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"aqmlab/e2e/browsertest"
	"aqmlab/results/serve"
)

const rows = `[...document.querySelectorAll("#runs tbody tr")].map(r => r.cells[2].textContent)`

func TestListInChromium(t *testing.T) {
	root := t.TempDir()
	one, two := finished(t, root, "star"), finished(t, root, "tree")
	server := httptest.NewServer(serve.Handler(serve.Content{Runs: root, Token: "SECRET"}))
	defer server.Close()
	ctx, seen := browsertest.Open(t)
	browsertest.Do(ctx, t, chromedp.Navigate(server.URL+"/?token=SECRET"), browsertest.Until(`location.search === ""`), browsertest.Until(`document.querySelectorAll("#runs tbody tr").length === 2`),
		browsertest.Until(`!document.getElementById("readonly").hidden && document.getElementById("start").hidden`)) // nothing can be started

	browsertest.Do(ctx, t, chromedp.SendKeys(chromedp.CSS("#filter"), "tree TCN"), browsertest.Until(`document.querySelectorAll("#runs tbody tr").length === 1`))
	if got := browsertest.Value[[]string](ctx, t, rows); len(got) != 1 || got[0] != "tree" {
		t.Errorf("the filter leaves %q", got)
	}
	// What was chosen stays when the filter changes.
	browsertest.Do(ctx, t,
		chromedp.Click(chromedp.CSS(`#runs tbody input`)),
		browsertest.Until(`(document.getElementById("filter").select(), true)`), chromedp.SendKeys(chromedp.CSS("#filter"), "star"),
		browsertest.Until(`document.querySelectorAll("#runs tbody tr").length === 2`),
		browsertest.Until(`document.getElementById("count").textContent === "2 runs, 1 chosen"`),
		chromedp.SetValue(chromedp.CSS("#baseline"), "tcn"),
		chromedp.Click(chromedp.CSS("#compare")),
		chromedp.WaitVisible(chromedp.CSS("#environment")))
	text := browsertest.Value[string](ctx, t, `document.body.innerText`)
	for _, want := range []string{filepath.Base(two.Dir), "compared with tcn", "<script>alert(1)</script>"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	if strings.Contains(text, filepath.Base(one.Dir)) {
		t.Error("the report is about a run that was not chosen")
	}
	if wrong := browsertest.Value[[]string](ctx, t, marks); len(wrong) > 0 {
		t.Errorf("figures: %q", wrong)
	}
	_, requests := seen.All()
	for _, url := range requests {
		if !strings.HasPrefix(url, server.URL) {
			t.Errorf("asked for %s", url)
		}
	}
}

// TestFollowedLink: a link on a page of another site leads to the list, though the cookie
// is for this site alone.
func TestFollowedLink(t *testing.T) {
	root := t.TempDir()
	finished(t, root, "star")
	server := httptest.NewServer(serve.Handler(serve.Content{Runs: root, Token: "SECRET"})) // at 127.0.0.1
	t.Cleanup(server.Close)                                                                 // after the browser, whose page asks it now and then
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `<!DOCTYPE html><link rel="icon" href="data:,"><a href="%s/?token=SECRET">results</a>`, server.URL)
	}))
	defer other.Close()
	ctx, _ := browsertest.Open(t)
	browsertest.Do(ctx, t,
		chromedp.Navigate(strings.Replace(other.URL, "127.0.0.1", "localhost", 1)), chromedp.Click(chromedp.CSS("a")),
		browsertest.Until(`location.hostname === "127.0.0.1" && location.search === ""`), browsertest.Until(`document.querySelectorAll("#runs tbody tr").length === 1`))
}

// The page follows a run from its first point to its place in the list.
func TestLiveInChromium(t *testing.T) {
	root := t.TempDir()
	w := newWriter(t, root, "star")
	server := httptest.NewServer(serve.Handler(serve.Content{Runs: root}))
	defer server.Close()
	ctx, _ := browsertest.Open(t)
	flows := func(want string) chromedp.Action[chromedp.Void] {
		return browsertest.Until(`document.querySelector(".flows")?.textContent === "` + want + `"`)
	}
	browsertest.Do(ctx, t, chromedp.Navigate(server.URL), browsertest.Until(`document.querySelector("#live").textContent.includes("not begun")`))

	if err := w.Publish(going(40)); err != nil {
		t.Fatal(err)
	}
	browsertest.Do(ctx, t, flows("40 of 300"))
	before := browsertest.Value[string](ctx, t, `document.querySelector("#live .mean").getAttribute("d")`)
	if text := browsertest.Value[string](ctx, t, `document.querySelector("#live").innerText`); !strings.Contains(text, "0 of 4 points done") || !strings.Contains(text, "5678.0 µs") || !strings.Contains(text, "25 %") {
		t.Errorf("the page says %q", text)
	}
	if err := w.Publish(going(90)); err != nil {
		t.Fatal(err)
	}
	browsertest.Do(ctx, t, flows("90 of 300"))
	after := browsertest.Value[string](ctx, t, `document.querySelector("#live .mean").getAttribute("d")`)
	if strings.Count(after, "L") != 89 || after == before {
		t.Error("the queue does not move")
	}
	if marks := browsertest.Value[string](ctx, t, `document.querySelector("#live .marks").getAttribute("d")`); strings.Count(marks, "L") != 89 {
		t.Errorf("marks are drawn by %s", marks)
	}

	if err := w.Add(measured("droptail", 0.5)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(time.Now()); err != nil {
		t.Fatal(err)
	}
	browsertest.Do(ctx, t,
		browsertest.Until(`document.querySelector("#live").childElementCount === 0`),
		browsertest.Until(`document.querySelector("#runs tbody td:last-child")?.textContent === "complete"`))
}
