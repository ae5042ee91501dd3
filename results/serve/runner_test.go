package serve_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"aqmlab/results/serve"
)

// orders is a runner that notes what it is asked for.
type orders struct {
	asked []string
	err   error
}

func (*orders) Offer() (serve.Offer, error) { return serve.Offer{}, nil }
func (*orders) Jobs() []serve.Job           { return []serve.Job{{ID: 7, State: serve.JobRunning}} }

func (o *orders) Start(order serve.Order) (serve.Job, error) {
	o.asked = append(o.asked, "start "+order.Lab)
	return serve.Job{ID: 8}, o.err
}

func (o *orders) Stop(id int) error {
	o.asked = append(o.asked, fmt.Sprint("stop ", id))
	return o.err
}

// post asks for a run of the lab star, or to stop the one of a number, with more headers.
func post(h http.Handler, path string, headers ...string) *httptest.ResponseRecorder {
	body := `{"lab": "star"}`
	if path == "/api/stop" {
		body = `{"id": 7}`
	}
	return postBody(h, path, body, headers...)
}

func postBody(h http.Handler, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "http://localhost:8470"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		if r.Header.Set(name, value); name == "Host" {
			r.Host = value
		}
	}
	return send(h, r)
}

const bearer = "Authorization: Bearer SECRET"

// TestStartAndStop: who shows the token starts and stops runs, and is told what is wrong.
func TestStartAndStop(t *testing.T) {
	var o orders
	h := serve.Handler(serve.Content{Runs: t.TempDir(), Token: "SECRET", Runner: &o})
	for _, c := range []struct {
		path string
		err  error
		code int
		want string
	}{
		{"/api/start", nil, http.StatusOK, `"id":8`},
		{"/api/start", fmt.Errorf("%w: aqmlab run star", serve.ErrBusy), http.StatusConflict, "aqmlab run star"},
		{"/api/start", errors.New("star.yaml:3: rtt: want 1us or more"), http.StatusUnprocessableEntity, "star.yaml:3: rtt: want 1us or more"},
		{"/api/stop", nil, http.StatusNoContent, ""},
		{"/api/stop", serve.ErrNoJob, http.StatusNotFound, "no such run"},
	} {
		o.err = c.err
		if w := post(h, c.path, bearer); w.Code != c.code || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s with %v: %d %s", c.path, c.err, w.Code, w.Body)
		}
	}
	if want := []string{"start star", "start star", "start star", "stop 7", "stop 7"}; !slices.Equal(o.asked, want) {
		t.Errorf("asked for %q, want %q", o.asked, want)
	}
	r := httptest.NewRequest(http.MethodGet, "http://localhost:8470/api/jobs?token=SECRET", nil)
	if got := send(h, r).Body.String(); !strings.Contains(got, `"allowed":true`) || !strings.Contains(got, `"id":7`) {
		t.Errorf("jobs %s", got)
	}
}

// TestRefused: nothing is started or stopped for anybody who does not show the token, for
// pages of elsewhere, also when a browser shows the token for them, or by anything but a
// POST of JSON.
func TestRefused(t *testing.T) {
	var o orders
	h := serve.Handler(serve.Content{Runs: t.TempDir(), Token: "SECRET", Runner: &o})
	first := send(h, httptest.NewRequest(http.MethodGet, "http://localhost:8470/?token=SECRET", nil))
	cookies := first.Result().Cookies()
	if len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode {
		t.Fatalf("cookies %v", cookies)
	}
	cookie := "Cookie: " + cookies[0].Name + "=" + cookies[0].Value
	for _, path := range []string{"/api/start", "/api/stop"} {
		for _, c := range []struct {
			code    int
			headers []string
		}{
			{http.StatusForbidden, nil},
			{http.StatusForbidden, []string{"Authorization: Bearer SECRE"}},
			{http.StatusForbidden, []string{"Authorization: Basic SECRET"}},
			{http.StatusForbidden, []string{"Cookie: " + cookies[0].Name + "=wrong"}},
			{http.StatusForbidden, []string{cookie, "Host: evil.example:8470"}}, // DNS rebinding
			{http.StatusForbidden, []string{cookie, "Origin: http://evil.example"}},
			{http.StatusForbidden, []string{cookie, "Origin: null"}},
			{http.StatusForbidden, []string{cookie, "Origin: http://localhost:8888"}}, // another server of this machine
			{http.StatusForbidden, []string{cookie, "Sec-Fetch-Site: same-site", "Origin: http://localhost:8888"}},
			{http.StatusForbidden, []string{cookie, "Sec-Fetch-Site: cross-site", "Origin: http://evil.example"}},
			{http.StatusUnsupportedMediaType, []string{cookie, "Content-Type: text/plain"}}, // what a form can send
			{http.StatusUnsupportedMediaType, []string{bearer, "Content-Type: application/x-www-form-urlencoded"}},
		} {
			if w := post(h, path, c.headers...); w.Code != c.code {
				t.Errorf("%s with %q: %d, want %d", path, c.headers, w.Code, c.code)
			}
		}
		for _, body := range []string{"", "[]", `{"lab": 3}`, `{"program": "sh"}`, `{"lab": "` + strings.Repeat("x", 1<<17) + `"}`} {
			if w := postBody(h, path, body, bearer); w.Code != http.StatusBadRequest {
				t.Errorf("%s with %.20s: %d", path, body, w.Code)
			}
		}
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPut} {
			if w := send(h, httptest.NewRequest(method, "http://localhost:8470"+path+"?token=SECRET", nil)); w.Code != http.StatusMethodNotAllowed && w.Code != http.StatusNotFound {
				t.Errorf("%s %s: %d", method, path, w.Code)
			}
		}
	}
	if len(o.asked) > 0 {
		t.Errorf("asked for %q", o.asked)
	}
	if w := post(h, "/api/start", cookie, "Sec-Fetch-Site: same-origin", "Origin: http://localhost:8470"); w.Code != http.StatusOK {
		t.Errorf("the page itself: %d %s", w.Code, w.Body)
	}
}

// TestNotAllowed: without a runner, and without a token that could be shown, there is
// nothing to start, and what can be read stays.
func TestNotAllowed(t *testing.T) {
	var o orders
	for name, c := range map[string]serve.Content{
		"no runner": {Token: "SECRET"},
		"no token":  {Runner: &o},
	} {
		c.Runs = t.TempDir()
		h := serve.Handler(c)
		for _, path := range []string{"/api/start", "/api/stop"} {
			if w := post(h, path, bearer); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "--allow-runs") {
				t.Errorf("%s: %s: %d %s", name, path, w.Code, w.Body)
			}
		}
		for path, want := range map[string]int{"/api/offer": http.StatusForbidden, "/api/jobs": http.StatusOK, "/api/runs": http.StatusOK, "/": http.StatusOK} {
			if w := ask(t, h, path+"?token=SECRET"); w.Code != want || path == "/api/jobs" && !strings.Contains(w.Body.String(), `"allowed":false`) {
				t.Errorf("%s: %s: %d %s", name, path, w.Code, w.Body)
			}
		}
	}
	if len(o.asked) > 0 {
		t.Errorf("asked for %q", o.asked)
	}
}
