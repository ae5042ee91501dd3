package uml

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestCheckTools(t *testing.T) {
	for name, c := range map[string]struct {
		lack   []string // programs and headers
		names  string
		advice string
	}{
		"all there":   {},
		"one":         {[]string{"flex"}, "without flex:", "apt-get install flex"},
		"one package": {[]string{"ld", "strip"}, "ld, strip", "install binutils"},
		"the header":  {[]string{cHeader}, cHeader, "install libc6-dev"},
		"two":         {[]string{"bison", "xz"}, "bison, xz", "install bison xz-utils"},
		"no compiler": {[]string{"gcc", cHeader}, "without gcc:", "install gcc"},
	} {
		t.Run(name, func(t *testing.T) {
			look := func(what string) error {
				if slices.Contains(c.lack, what) {
					return errors.New("not found")
				}
				return nil
			}
			err := checkTools(look, look)
			if len(c.lack) == 0 {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), c.names) || !strings.HasSuffix(err.Error(), c.advice) {
				t.Errorf("got %v, want %q and at its end %q", err, c.names, c.advice)
			}
		})
	}
}

func TestLookPath(t *testing.T) {
	if err := lookPath("sh"); err != nil {
		t.Error(err)
	}
	if err := lookPath("aqmlab-no-such-program"); err == nil {
		t.Error("found what does not exist")
	}
}
