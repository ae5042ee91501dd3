package serve

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"html"
	"net/http"
	"net/url"
	"strings"
)

// tokenKey is the part of the URL that has the token.
const tokenKey = "token"

// keyed answers only requests that show the token: in their URL, in the header
// Authorization, or by the cookie that the first of these got. Without a token it answers
// all.
func keyed(token string, next http.Handler) http.Handler {
	if token == "" {
		return next
	}
	// Cookies do not tell ports apart, and several servers may run.
	sum := sha256.Sum256([]byte(token))
	name := "aqmlab-" + hex.EncodeToString(sum[:4])
	shown := func(given string) bool { return subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1 }
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		bearer, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		cookie, err := r.Cookie(name)
		switch {
		case shown(r.URL.Query().Get(tokenKey)):
			http.SetCookie(w, &http.Cookie{Name: name, Value: token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
			if r.Header.Get("Sec-Fetch-Mode") == "navigate" {
				forget(w, *r.URL)
				return
			}
		case !shown(bearer) && (err != nil || !shown(cookie.Value)):
			http.Error(w, "This needs the whole address that aqmlab serve has printed, with its token.", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// forget sends a browser to the address without the token, which its history and window
// need not have. It is the page that goes there: after a redirect, a browser that followed
// a link of another site would not show a cookie that is for this one alone.
func forget(w http.ResponseWriter, from url.URL) {
	query := from.Query()
	query.Del(tokenKey)
	from.RawQuery = query.Encode()
	from.Path, from.RawPath = "/"+strings.TrimLeft(from.Path, "/"), "" // "//host" is another site
	to := html.EscapeString(from.RequestURI())
	sendPage(w, []byte(`<!DOCTYPE html><title>aqmlab</title><meta http-equiv="refresh" content="0; url=`+to+`"><a href="`+to+`">aqmlab</a>`))
}
