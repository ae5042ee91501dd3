package cli

import "testing"

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\nµs":                   "a\tb\nµs",
		"\x1b[36mx0.43 +\x1b[0m":     "\x1b[36mx0.43 +\x1b[0m",
		"\x1b]0;title\x07":           `\x1b]0;title\a`,
		"\x1b[2J\x1b[H":              `\x1b[2J\x1b[H`,
		"gone\rthere\b":              `gone\rthere\b`,
		"\u009b2J\u0085":             `\u009b2J\u0085`,
		"\x00\x7f":                   `\x00\x7f`,
		"CPU \x1b[1;31m\x1b[6n of 2": "CPU \x1b[1;31m" + `\x1b[6n of 2`,
	} {
		if got := string(plain([]byte(text))); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}
