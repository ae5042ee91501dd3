package serve_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aqmlab/results"
	"aqmlab/results/serve"
)

// ask sends a request for a path to this machine.
func ask(t *testing.T, h http.Handler, path string) *httptest.ResponseRecorder {
	t.Helper()
	return send(h, httptest.NewRequest(http.MethodGet, "http://localhost:8470"+path, nil))
}

func send(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// answer decodes a JSON answer.
func answer[T any](t *testing.T, h http.Handler, path string) (v T) {
	t.Helper()
	w := ask(t, h, path)
	if w.Code != http.StatusOK {
		t.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return v
}

func TestRuns(t *testing.T) {
	root := t.TempDir()
	run := finished(t, root, "star")
	if err := os.Mkdir(filepath.Join(root, "20260101T000000Z-broken-0123abcd"), 0o755); err != nil {
		t.Fatal(err)
	}
	h := serve.Handler(serve.Content{Runs: root})
	for range 2 { // read, and remembered
		runs := answer[[]serve.Run](t, h, "/api/runs")
		if len(runs) != 2 || runs[0].Name != filepath.Base(run.Dir) || runs[1].State != results.Broken || runs[1].Reason == "" {
			t.Fatalf("runs %+v", runs)
		}
		if got := runs[0]; got.Runtime != "sim" || len(got.Schemes) != 2 || got.Points != 4 || got.Fidelity != results.FidelityExact {
			t.Errorf("run %+v", got)
		}
	}
}

// A folder that is not there yet holds no runs: somebody may look before the
// first one.
func TestNoRunsYet(t *testing.T) {
	h := serve.Handler(serve.Content{Runs: filepath.Join(t.TempDir(), "later")})
	for _, path := range []string{"/api/runs", "/api/live"} {
		if got := strings.TrimSpace(ask(t, h, path).Body.String()); got != "[]" {
			t.Errorf("%s: %s", path, got)
		}
	}
}

func TestLive(t *testing.T) {
	root := t.TempDir()
	w := newWriter(t, root, "star")
	h := serve.Handler(serve.Content{Runs: root})
	if got := answer[[]serve.Growing](t, h, "/api/live"); len(got) != 1 || got[0].Live != nil || got[0].Lab != "star" {
		t.Fatalf("before the first point: %+v", got)
	}
	if err := w.Publish(going(7)); err != nil {
		t.Fatal(err)
	}
	got := answer[[]serve.Growing](t, h, "/api/live")
	if len(got) != 1 || got[0].Live == nil || got[0].Live.Points[0].Completed != 7 || len(got[0].Live.Points[0].Queue.Us) != 7 {
		t.Errorf("at the first point: %+v", got)
	}
	if _, err := w.Abort(going(0).At, "enough"); err != nil {
		t.Fatal(err)
	}
	if got := answer[[]serve.Growing](t, h, "/api/live"); len(got) != 0 {
		t.Errorf("after the end: %+v", got)
	}
}

func TestReport(t *testing.T) {
	root := t.TempDir()
	name := url.QueryEscape(filepath.Base(finished(t, root, "star").Dir))
	h := serve.Handler(serve.Content{Runs: root})
	for _, c := range []struct {
		query string
		code  int
		want  string
	}{
		{"run=" + name, http.StatusOK, "compared with <b>droptail</b>"},
		{"run=" + name + "&baseline=tcn", http.StatusOK, "compared with <b>tcn</b>"},
		{"run=" + name + "&baseline=pie", http.StatusUnprocessableEntity, "want one of droptail, tcn"},
		{"", http.StatusNotFound, "run=NAME"},
		{"run=nothing", http.StatusNotFound, `no run "nothing"`},
	} {
		w := ask(t, h, "/report?"+c.query)
		if w.Code != c.code || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s: %d %.300s", c.query, w.Code, w.Body)
		}
	}
}

// Runs are those in the folder, and files those of the page: names that lead
// elsewhere are those of no run.
func TestPathsStayInside(t *testing.T) {
	outside := t.TempDir()
	root := filepath.Join(outside, "runs")
	secret := filepath.Base(finished(t, outside, "secret").Dir)
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, secret), filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	h := serve.Handler(serve.Content{Runs: root})
	for _, name := range []string{"../" + secret, "..", ".", "", "/" + secret, filepath.Join(outside, secret), "link", "a/../../" + secret, "..\\" + secret, secret + "\x00"} {
		if w := ask(t, h, "/report?run="+url.QueryEscape(name)); w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), "<html") {
			t.Errorf("run %q: %d %.200s", name, w.Code, w.Body)
		}
	}
	for _, path := range []string{"/../serve.go", "/..%2fserve.go", "/%2e%2e/serve.go", "/page/../../serve.go", "/manifest.json"} {
		if w := ask(t, h, path); w.Code == http.StatusOK {
			t.Errorf("%s: %.200s", path, w.Body)
		}
	}
}

// A page of elsewhere whose name comes to resolve to this machine asks with that
// name (DNS rebinding).
func TestForeignHosts(t *testing.T) {
	h := serve.Handler(serve.Content{Runs: t.TempDir()})
	for host, want := range map[string]int{
		"localhost": http.StatusOK, "localhost:1234": http.StatusOK, "127.0.0.1:8470": http.StatusOK, "[::1]:8470": http.StatusOK, "[::1]": http.StatusOK,
		"evil.example:8470": http.StatusForbidden, "localhost.evil.example": http.StatusForbidden, "127.0.0.1.evil.example": http.StatusForbidden,
		"192.0.2.1:8470": http.StatusForbidden, "0.0.0.0:8470": http.StatusForbidden, "[": http.StatusForbidden, "": http.StatusForbidden,
	} {
		r := httptest.NewRequest(http.MethodGet, "/api/runs", nil)
		r.Host = host
		if w := send(h, r); w.Code != want {
			t.Errorf("host %q: %d, want %d", host, w.Code, want)
		}
	}
}

// Nothing can be changed, framed or embedded, and nothing comes from elsewhere.
func TestHeaders(t *testing.T) {
	h := serve.Handler(serve.Content{Runs: t.TempDir()})
	for _, path := range []string{"/", "/sweeps.html", "/common.js", "/script.js", "/start.js", "/sweeps.js", "/style.css", "/icon.svg", "/api/runs", "/api/sweeps"} {
		w := ask(t, h, path)
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d", path, w.Code)
		}
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := w.Header().Get(name); !strings.Contains(got, want) {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		if w.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s may be read by pages of elsewhere", path)
		}
	}
	for _, method := range []string{http.MethodPost, http.MethodDelete, http.MethodPut} {
		if w := send(h, httptest.NewRequest(method, "http://localhost/api/runs", nil)); w.Code != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", method, w.Code)
		}
	}
}

// The port that is asked for is the one, on the loopback address alone; the end
// of the context is the end.
func TestListen(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	urls, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- serve.Listen(ctx, serve.Content{Runs: t.TempDir()}, 0, func(url string) { urls <- url })
	}()
	address := <-urls
	if !strings.HasPrefix(address, "http://127.0.0.1:") {
		t.Errorf("serving at %s", address)
	}
	r, err := http.Get(strings.Replace(address, "?", "api/runs?", 1))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(r.Body)
	r.Body.Close()
	if err != nil || string(body) != "[]" {
		t.Errorf("%q, %v", body, err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestListenWhereSomebodyDoes(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	err = serve.Listen(t.Context(), serve.Content{Runs: "runs"}, uint16(port), func(string) { t.Error("it is ready") })
	if err == nil || !strings.Contains(err.Error(), "serving runs") || !strings.Contains(err.Error(), "in use") {
		t.Errorf("error %v", err)
	}
}

// TestToken: who does not know the token sees nothing, on no path; a browser that has
// shown it once is known by its cookie, and its address loses it.
func TestToken(t *testing.T) {
	const token = "SECRET"
	root := t.TempDir()
	finished(t, root, "star")
	h := serve.Handler(serve.Content{Runs: root, Token: token})
	for _, path := range []string{"/", "/sweeps.html", "/script.js", "/api/runs", "/api/live", "/api/sweeps", "/api/jobs", "/api/offer", "/report?run=x", "/response?sweep=x", "/none"} {
		for _, wrong := range []string{"", "token=", "token=SECRE", "token=SECRETS", "token=secret", "Token=SECRET"} {
			with := path + "?" + wrong
			if strings.Contains(path, "?") {
				with = path + "&" + wrong
			}
			if w := ask(t, h, with); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "aqmlab serve has printed") || len(w.Result().Cookies()) > 0 {
				t.Errorf("%s: %d %q", with, w.Code, w.Body)
			}
		}
	}
	if w := ask(t, h, "/api/runs?token="+token); w.Code != http.StatusOK {
		t.Errorf("with the token: %d %s", w.Code, w.Body)
	}
	first := httptest.NewRequest(http.MethodGet, "http://localhost:8470/report?run=x&token="+token, nil)
	first.Header.Set("Sec-Fetch-Mode", "navigate")
	w := send(h, first)
	cookies := w.Result().Cookies()
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `content="0; url=/report?run=x"`) || strings.Contains(w.Body.String(), token) || len(cookies) != 1 || !cookies[0].HttpOnly {
		t.Fatalf("first visit: %d %s, cookies %v", w.Code, w.Body, cookies)
	}
	elsewhere := httptest.NewRequest(http.MethodGet, "http://localhost:8470//evil.example/?token="+token, nil)
	elsewhere.Header.Set("Sec-Fetch-Mode", "navigate")
	if w := send(h, elsewhere); !strings.Contains(w.Body.String(), `url=/evil.example/"`) {
		t.Errorf("//evil.example leads to %s", w.Body)
	}
	for value, want := range map[string]int{token: http.StatusOK, "wrong": http.StatusForbidden} {
		r := httptest.NewRequest(http.MethodGet, "http://localhost:8470/api/runs", nil)
		r.AddCookie(&http.Cookie{Name: cookies[0].Name, Value: value})
		if got := send(h, r).Code; got != want {
			t.Errorf("cookie %q: %d, want %d", value, got, want)
		}
	}
	foreign := httptest.NewRequest(http.MethodGet, "http://example.org/api/runs?token="+token, nil)
	if got := send(h, foreign).Code; got != http.StatusForbidden {
		t.Errorf("a foreign host with the token: %d", got)
	}
}
