package serve_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"aqmlab/e2e/browsertest"
)

// marks lists what is wrong with the figures of a page: series that show
// nothing, and text that is cut off or lies on other text, whose boxes
// have some room above and below.
const marks = `[...document.querySelectorAll("figure")].flatMap(figure => {
  const name = figure.querySelector("figcaption span").textContent, svg = figure.querySelector("svg"), wrong = [];
  const series = [...svg.querySelectorAll(".series")];
  if (!series.length) wrong.push(name + ": no series");
  for (const s of series) {
    const box = s.getBBox();
    if (!(box.width > 0 && box.height > 0)) wrong.push(name + ": an empty series");
  }
  const edge = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll("text")].map(t => [t.textContent, t.getBoundingClientRect()]);
  for (const [text, box] of texts) {
    if (box.left < edge.left || box.right > edge.right || box.top < edge.top - 1 || box.bottom > edge.bottom + 1) wrong.push(name + ": cut off: " + text);
    for (const [other, b] of texts) {
      if (b !== box && box.left < b.right && b.left < box.right && box.top + 4 < b.bottom && b.top + 4 < box.bottom) wrong.push(name + ": " + text + " lies on " + other);
    }
  }
  return wrong;
})`

// reportFile is the report of a run, as a file.
func reportFile(t *testing.T) string {
	t.Helper()
	return filepath.Join(finished(t, t.TempDir(), "star").Dir, "report.html")
}

func TestReportInChromium(t *testing.T) {
	file := reportFile(t)
	ctx, seen := browsertest.Open(t)
	browsertest.Do(ctx, t, chromedp.Navigate("file://"+file))
	// 8 statistics against the load; at each of 2 loads 5 CDFs, a probe, and 2
	// schemes' queues and goodputs.
	if got, want := browsertest.Value[int](ctx, t, `document.querySelectorAll("figure svg").length`), 8+2*(5+1+2+2); got != want {
		t.Errorf("%d figures, want %d", got, want)
	}
	if wrong := browsertest.Value[[]string](ctx, t, marks); len(wrong) > 0 {
		t.Errorf("figures: %s", strings.Join(wrong, "\n"))
	}
	if _, requests := seen.All(); len(requests) != 1 {
		t.Errorf("a self-contained page asked for %q", requests)
	}
	t.Run("dark", func(t *testing.T) { darkReport(ctx, t) })
	t.Run("copy", func(t *testing.T) { copyLab(ctx, t) })
	t.Run("save", func(t *testing.T) { saveFigure(ctx, t) })
	t.Run("print", func(t *testing.T) { printReport(ctx, t) })
}

// Text and the baseline's lines are light on dark.
func darkReport(ctx context.Context, t *testing.T) {
	browsertest.Do(ctx, t, browsertest.Call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}}))
	const light = `(selector, property) => {
  const [r, g, b] = getComputedStyle(document.querySelector(selector))[property].match(/\d+/g).map(Number);
  return (r + g + b) / 3;
}`
	for _, c := range []struct {
		selector, property string
		dark               bool
	}{{"body", "backgroundColor", true}, {"svg text", "fill", false}, {"svg .s0", "stroke", false}, {"svg .f-s0", "fill", false}} {
		got := browsertest.Value[float64](ctx, t, "("+light+`)("`+c.selector+`", "`+c.property+`")`)
		if c.dark != (got < 80) || !c.dark && got < 180 {
			t.Errorf("%s of %s has a lightness of %v", c.property, c.selector, got)
		}
	}
	browsertest.Do(ctx, t, browsertest.Call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{}))
}

func copyLab(ctx context.Context, t *testing.T) {
	grant := browser.SetPermissionParams{Permission: &browser.PermissionDescriptor{Name: "clipboard-read"}, Setting: browser.PermissionSettingGranted}
	if _, err := chromedp.CallBrowser(ctx, browser.SetPermission, grant); err != nil {
		t.Fatal(err)
	}
	browsertest.Do(ctx, t,
		chromedp.Click(chromedp.CSS(`button[data-copy]`)),
		browsertest.Until(`document.querySelector("button[data-copy]").textContent === "Copied"`))
	copied, lab := browsertest.Value[string](ctx, t, `navigator.clipboard.readText()`), browsertest.Value[string](ctx, t, `document.querySelector("pre").textContent`)
	if copied != lab || !strings.Contains(lab, "<b>not</b>") {
		t.Errorf("copied %q, want the lab %q", copied, lab)
	}
}

// saveFigure: the file is the SVG as it would be written by the command.
func saveFigure(ctx context.Context, t *testing.T) {
	dir, done := t.TempDir(), make(chan string, 1)
	err := chromedp.ListenBrowser(ctx, func(ev any) {
		if e, ok := ev.(*browser.EventDownloadProgress); ok && e.State == browser.DownloadProgressStateCompleted {
			done <- e.GUID
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	on := true
	_, err = chromedp.CallBrowser(ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllowAndName, DownloadPath: dir, EventsEnabled: &on,
	})
	if err != nil {
		t.Fatal(err)
	}
	browsertest.Do(ctx, t, chromedp.Click(chromedp.CSS(`button[data-save="fct-small-mean-load.svg"]`)))
	select {
	case name := <-done:
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(b, []byte(`<svg xmlns="http://www.w3.org/2000/svg"`)) || bytes.Count(b, []byte(`class="series"`)) != 2 {
			t.Errorf("saved %.200s", b)
		}
	case <-ctx.Done():
		t.Error("nothing was saved")
	}
}

// printReport: every section is on paper, also what is folded on the screen.
func printReport(ctx context.Context, t *testing.T) {
	pdf, err := chromedp.Run(ctx, chromedp.PrintToPDF(chromedp.PDFPreferCSSPageSize()))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(pdf, []byte("%PDF-")) || bytes.Count(pdf, []byte("/Type /Page\n")) < 3 {
		t.Errorf("%d bytes, %d pages", len(pdf), bytes.Count(pdf, []byte("/Type /Page\n")))
	}
	if folded := browsertest.Value[int](ctx, t, `document.querySelectorAll("details:not([open])").length`); folded > 0 {
		t.Errorf("%d parts were folded", folded)
	}
	// On paper nothing is wider than A4 without its margins, in the pixels of CSS.
	browsertest.Do(ctx, t, browsertest.Call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}), chromedp.EmulateViewport(688, 1000))
	if w := browsertest.Value[float64](ctx, t, `document.documentElement.scrollWidth`); w > 688 {
		t.Errorf("the page is %v wide on paper: %q", w, browsertest.Value[[]string](ctx, t, `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > 688).map(e => e.tagName + " " + e.textContent.slice(0, 40))`))
	}
	if wrong := browsertest.Value[[]string](ctx, t, marks); len(wrong) > 0 {
		t.Errorf("figures on paper: %s", strings.Join(wrong, "\n"))
	}
}
