package serve

import (
	"cmp"
	"encoding/json"
	"net/http"
)

// answer answers requests with what look finds, as JSON.
func answer[T any](look func() (T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		found, err := look()
		b, jsonErr := json.Marshal(found)
		if err := cmp.Or(err, jsonErr); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		send(w, b)
	}
}

// send leaves it to the browser to notice that it did not get all.
func send(w http.ResponseWriter, b []byte) { _, _ = w.Write(b) }

// sendPage sends a page that has its script and style inside.
func sendPage(w http.ResponseWriter, page []byte) {
	w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	send(w, page)
}
