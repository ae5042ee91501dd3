package serve

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
)

// tokenKey is the part of the URL that has the token.
const tokenKey = "token"

// keyed answers only requests that show the token: in their URL, or by the cookie that
// the first of these got. Without a token it answers all.
func keyed(token string, next http.Handler) http.Handler {
	if token == "" {
		return next
	}
	// Cookies do not tell ports apart, and several servers may run.
	sum := sha256.Sum256([]byte(token))
	name := "aqmlab-" + hex.EncodeToString(sum[:4])
	shown := func(given string) bool { return subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1 }
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		if shown(query.Get(tokenKey)) {
			http.SetCookie(w, &http.Cookie{Name: name, Value: token, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
			if r.Header.Get("Sec-Fetch-Mode") == "navigate" { // a browser, whose history and window need not have it
				query.Del(tokenKey)
				r.URL.RawQuery = query.Encode()
				http.Redirect(w, r, r.URL.RequestURI(), http.StatusSeeOther)
				return
			}
		} else if c, err := r.Cookie(name); err != nil || !shown(c.Value) {
			http.Error(w, "This needs the whole address that aqmlab serve has printed, with its token.", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
