package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"aqmlab/e2e/browsertest"
	"aqmlab/orchestrator"
	"aqmlab/results"
	"aqmlab/results/serve"
	"aqmlab/results/store"
	"aqmlab/switch/port"
)

// simulated is an order of the lab quickstart with that many flows.
func simulated(flows string) serve.Order {
	return serve.Order{Lab: "quickstart", Schemes: []string{"droptail", "tcn"}, Flows: flows, Runtime: string(orchestrator.Simulator())}
}

// TestOrderIsCommand: a run from the page is that of the command that it shows.
func TestOrderIsCommand(t *testing.T) {
	out := t.TempDir()
	r := newRunner(t.Context(), port.Kinds{}, out)
	first, err := r.Start(simulated("60"))
	if err != nil {
		t.Fatal(err)
	}
	r.done.Wait()
	j := r.Jobs()[0]
	if j.ID != first.ID || j.State != serve.JobDone || j.Run == "" || j.Error != "" || !strings.Contains(strings.Join(j.Log, "\n"), "60/60 flows done") {
		t.Fatalf("job %+v", j)
	}
	var printed, said bytes.Buffer
	words := strings.Fields(strings.Replace(j.Command, out, t.TempDir(), 1))
	if code := (App{}).Main(append(words[1:], "--json"), Streams{Out: &printed, Err: &said}); code != 0 {
		t.Fatalf("%s ends with %d: %s", j.Command, code, &said)
	}
	var command struct{ Dir string }
	if err := json.Unmarshal(printed.Bytes(), &command); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"lab.yaml", "tcn-load0.6-seed1/flows.parquet", "tcn-load0.6-seed1/series.parquet"} {
		mine, err := os.ReadFile(filepath.Join(out, j.Run, file))
		theirs, err2 := os.ReadFile(filepath.Join(command.Dir, file))
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(mine, theirs) {
			t.Errorf("%s differs", file)
		}
	}
}

// TestOrdersThatDoNotFit: errors name the key and what is allowed, and labs are those of
// the book alone.
func TestOrdersThatDoNotFit(t *testing.T) {
	r := newRunner(t.Context(), port.Kinds{}, t.TempDir())
	file := filepath.Join(t.TempDir(), "own.yaml")
	if err := os.WriteFile(file, []byte("name: own\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*serve.Order){
		"is not in the book: want one that":                 func(o *serve.Order) { o.Lab = file },
		`lab "quickstat" is not in the book`:                func(o *serve.Order) { o.Lab = "quickstat" },
		`unknown scheme "codle": want one of droptail`:      func(o *serve.Order) { o.Schemes = []string{"codle"} },
		"workload.load[0]: 2 is outside (0, 1]":             func(o *serve.Order) { o.Loads = "2" },
		"workload.flows":                                    func(o *serve.Order) { o.Flows = "many" },
		"seeds":                                             func(o *serve.Order) { o.Seeds = "3..1" },
		`unknown runtime "cloud": want one of auto, netns,`: func(o *serve.Order) { o.Runtime = "cloud" },
	} {
		o := simulated("60")
		change(&o)
		if _, err := r.Start(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", o, err, want)
		}
	}
	if jobs := r.Jobs(); len(jobs) > 0 {
		t.Errorf("jobs %+v", jobs)
	}
}

// serving is the command serve, with the address of its page and its token.
type serving struct {
	t           *testing.T
	dir         string
	base, token string
	interrupt   context.CancelFunc
	ended       chan error
}

// serveRuns starts serve with a folder of its own.
func serveRuns(t *testing.T) *serving {
	t.Helper()
	ctx, interrupt := context.WithCancel(t.Context())
	said, errs := io.Pipe()
	s := &serving{t: t, dir: t.TempDir(), interrupt: interrupt, ended: make(chan error, 1)}
	root := newRoot(Streams{Out: io.Discard, Err: errs}, port.Kinds{})
	root.SetArgs([]string{"serve", s.dir, "--port", "0", "--allow-runs"})
	go func() { s.ended <- root.ExecuteContext(ctx) }()
	lines := bufio.NewReader(said)
	line, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	_, address, _ := strings.Cut(line, " at ")
	address, _, _ = strings.Cut(address, " ")
	s.base, s.token, _ = strings.Cut(address, "?token=")
	return s
}

// ask sends a request with the token, and decodes what is answered.
func (s *serving) ask(method, path string, body, into any) {
	s.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := http.NewRequest(method, s.base+path, bytes.NewReader(text))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 400 {
		text, err := io.ReadAll(answer.Body)
		s.t.Fatalf("%s: %d %s %v", path, answer.StatusCode, text, err)
	}
	if into != nil {
		if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
			s.t.Fatal(err)
		}
	}
}

// following looks at the runs that are being made until enough is seen.
func (s *serving) following(enough func([]serve.Growing) bool) {
	s.t.Helper()
	for {
		var now []serve.Growing
		s.ask(http.MethodGet, "api/live", nil, &now)
		if enough(now) {
			return
		}
		if err := s.t.Context().Err(); err != nil {
			s.t.Fatal(err)
		}
	}
}

// TestServeStops: a run is followed and stopped over HTTP, another one ends with serve, and
// neither leaves anything that is still being made.
func TestServeStops(t *testing.T) {
	s := serveRuns(t)
	seen := func(now []serve.Growing) bool {
		return len(now) == 1 && now[0].Live != nil && len(now[0].Live.Points) > 0 && now[0].Live.Points[0].Queue != nil
	}
	var j serve.Job
	s.ask(http.MethodPost, "api/start", simulated("30000"), &j)
	s.following(seen)
	s.ask(http.MethodPost, "api/stop", map[string]int{"id": j.ID}, nil)
	s.following(func(now []serve.Growing) bool { return len(now) == 0 })
	var list struct{ Jobs []serve.Job }
	for len(list.Jobs) == 0 || list.Jobs[0].State == serve.JobStopping {
		s.ask(http.MethodGet, "api/jobs", nil, &list)
	}
	if got := list.Jobs[0]; got.State != serve.JobStopped || got.ID != j.ID {
		t.Errorf("job %+v", got)
	}
	s.ask(http.MethodPost, "api/start", simulated("30000"), nil)
	s.following(seen)
	s.interrupt()
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
	entries, err := store.Growing(s.dir)
	if err != nil || len(entries) > 0 {
		t.Errorf("still being made: %+v, %v", entries, err)
	}
	left, err := os.ReadDir(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range left {
		if e := store.EntryOf(filepath.Join(s.dir, d.Name())); e.State != results.Partial && e.State != results.Complete {
			t.Errorf("left %s, which is %s: %s", d.Name(), e.State, e.Reason)
		}
	}
}

// TestRunFromPage: the form of the page starts a run, shows what is wrong with another, and
// stops a third.
func TestRunFromPage(t *testing.T) {
	ctx, seen := browsertest.Open(t)
	r := newRunner(t.Context(), port.Kinds{}, t.TempDir())
	defer r.close(io.Discard)
	server := httptest.NewServer(serve.Handler(serve.Content{Runs: r.out, Token: "SECRET", Runner: r}))
	defer server.Close()
	sim := string(orchestrator.Simulator())
	state := func(of, want string) chromedp.Action[chromedp.Void] {
		return browsertest.Until(`document.querySelector("[data-job='` + of + `'] b")?.textContent === "` + want + `"`)
	}
	browsertest.Do(ctx, t, chromedp.Navigate(server.URL+"/?token=SECRET"), browsertest.Until(`document.querySelectorAll("#schemes input").length === 3`),
		chromedp.Click(chromedp.CSS("#start summary")), chromedp.SetValue(chromedp.CSS("#runtime"), sim),
		chromedp.Click(chromedp.CSS(`#schemes input[value="dctcp-red"]`)), chromedp.SendKeys(chromedp.CSS("#flows"), "60"),
		chromedp.Click(chromedp.CSS("#run")), state("1", "done"))
	if text := browsertest.Value[string](ctx, t, `document.querySelector("[data-job] code").textContent`); !strings.Contains(text, "aqmlab run quickstart --schemes=droptail,tcn --flows=60 --runtime="+sim) {
		t.Errorf("the command is %s", text)
	}

	browsertest.Do(ctx, t, chromedp.SendKeys(chromedp.CSS("#loads"), "2"), browsertest.Until(`!document.getElementById("run").disabled`),
		chromedp.Click(chromedp.CSS("#run")), chromedp.WaitVisible(chromedp.CSS("#wrong")))
	if text := browsertest.Value[string](ctx, t, `document.getElementById("wrong").textContent`); !strings.Contains(text, "workload.load[0]: 2 is outside (0, 1]") {
		t.Errorf("told %q of a load", text)
	}
	if n := seen.Expected("422"); n != 1 {
		t.Errorf("%d errors of the order that does not fit", n)
	}

	browsertest.Do(ctx, t, browsertest.Until(`(document.getElementById("loads").value = "", true)`), chromedp.SetValue(chromedp.CSS("#flows"), "30000"),
		chromedp.Click(chromedp.CSS("#run")), state("2", "going on"), chromedp.WaitVisible(chromedp.CSS("#live .marks")),
		chromedp.Click(chromedp.CSS(`[data-job="2"] button`)), state("2", "stopped"), browsertest.Until(`document.querySelector("#live").childElementCount === 0`),
		chromedp.Click(chromedp.CSS(`[data-job="1"] a`)), chromedp.WaitVisible(chromedp.CSS("#environment")))
}
