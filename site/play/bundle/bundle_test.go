package bundle_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"aqmlab/cli"
	"aqmlab/e2e/browsertest"
	"aqmlab/site/play/bundle"
)

// most is how large the page may be, as it comes over the network.
const most = 10 << 20

// TestPage: the page runs what a link asks for, to the figures of the command on the lab
// file that it offers, and asks nobody else for anything. What does not fit is said.
func TestPage(t *testing.T) {
	ctx, seen := browsertest.Open(t)
	dir := t.TempDir()
	if err := bundle.Write(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if n := sizeOf(t, dir); n > most {
		t.Errorf("the page has %d bytes, want at most %d", n, most)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	browsertest.Do(ctx, t, chromedp.Navigate(server.URL+"/#lab=quickstart&load=0.8&flows=120&seed=3&a=dctcp-red&b=tcn&b.threshold=128us"))
	browsertest.Do(ctx, t, browsertest.Until(`window.result !== undefined`))
	sameAsCommand(t, browsertest.Value[string](ctx, t, `document.getElementById("file").textContent`), browsertest.Value[string](ctx, t, `JSON.stringify(window.result)`))
	if text := browsertest.Value[string](ctx, t, `document.getElementById("table").innerText`); !strings.Contains(text, "dctcp-red") || !strings.Contains(text, "×") {
		t.Errorf("the table compares nothing: %s", text)
	}
	for _, canvas := range []string{"queue-a", "queue-b", "window-a", "window-b", "fct-small", "fct-all"} {
		if !browsertest.Value[bool](ctx, t, `(() => { const c = document.getElementById("`+canvas+`"); return c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some(v => v > 0); })()`) {
			t.Errorf("%s is empty", canvas)
		}
	}
	// A value that does not fit is blamed, and the page can go on from there.
	browsertest.Do(ctx, t, chromedp.SetValue(chromedp.CSS(`input[name="b.threshold"]`), "soon"), chromedp.Click(chromedp.CSS("#run")), chromedp.WaitVisible(chromedp.CSS("#wrong")))
	if text := browsertest.Value[string](ctx, t, `document.getElementById("wrong").textContent`); !strings.Contains(text, "schemes.tcn.threshold") {
		t.Errorf("told %q of a bad threshold", text)
	}
	if hash := browsertest.Value[string](ctx, t, `location.hash`); !strings.Contains(hash, "b.threshold=soon") || !strings.Contains(hash, "load=0.8") {
		t.Errorf("the link to the form is %s", hash)
	}
	_, requests := seen.All()
	for _, url := range requests {
		if !strings.HasPrefix(url, server.URL) && !strings.HasPrefix(url, "data:") {
			t.Errorf("asked for %s", url)
		}
	}
}

// sameAsCommand runs the lab file with the command, and compares all figures.
func sameAsCommand(t *testing.T, file, page string) {
	t.Helper()
	dir := t.TempDir()
	lab := filepath.Join(dir, "page.yaml")
	if err := os.WriteFile(lab, []byte(file), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, complaint bytes.Buffer
	if code := (cli.App{}).Main([]string{"run", lab, "--runtime", "sim", "--json", "--out", dir}, cli.Streams{Out: &out, Err: &complaint}); code != 0 {
		t.Fatalf("the command ends with %d: %s", code, &complaint)
	}
	var want, got map[string]any
	if err := json.Unmarshal(out.Bytes(), &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(page), &got); err != nil {
		t.Fatal(err)
	}
	stored, err := os.ReadFile(filepath.Join(want["dir"].(string), "summary.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(stored, &want); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"lab", "derived", "runs", "comparison", "warnings"} {
		if !reflect.DeepEqual(got[key], want[key]) {
			t.Errorf("%s: the page has\n%v\nand the command\n%v", key, got[key], want[key])
		}
	}
	if runs, _ := got["runs"].([]any); len(runs) != 2 {
		t.Errorf("%d points, want one a scheme", len(runs))
	}
}

// sizeOf is the bytes of all files of a folder.
func sizeOf(t *testing.T, dir string) (n int64) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		n += info.Size()
	}
	return n
}
