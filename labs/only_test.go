package labs_test

import (
	"errors"
	"reflect"
	"testing"

	"aqmlab/kind"
	"aqmlab/labs"
)

func TestOnly(t *testing.T) {
	tests := map[string]struct {
		names, want []string
		baseline    string
	}{
		"none":             {nil, []string{"droptail", "dctcp-red", "tcn"}, "droptail"},
		"the lab's order":  {[]string{"tcn", "droptail"}, []string{"droptail", "tcn"}, "droptail"},
		"without baseline": {[]string{"tcn", "dctcp-red"}, []string{"dctcp-red", "tcn"}, "dctcp-red"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l := load(t, "quickstart")
			if err := l.Only(tt.names); err != nil {
				t.Fatal(err)
			}
			if got := names(l); !reflect.DeepEqual(got, tt.want) || l.Baseline != tt.baseline {
				t.Errorf("schemes %v against %s, want %v against %s", got, l.Baseline, tt.want, tt.baseline)
			}
			if again := reload(t, l); !reflect.DeepEqual(l, again) {
				t.Errorf("wrote\n%+v\nand read\n%+v", l, again)
			}
		})
	}
}

func TestOnlyAnUnknownScheme(t *testing.T) {
	l := load(t, "quickstart")
	err := l.Only([]string{"droptail", "red"})
	want := `lab quickstart: unknown scheme "red": want one of droptail, dctcp-red, tcn`
	if !errors.Is(err, kind.ErrUnknown) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if len(l.Schemes) != 3 {
		t.Errorf("schemes %v: an error must not change the lab", names(l))
	}
}

func names(l *labs.Lab) []string {
	var names []string
	for _, s := range l.Schemes {
		names = append(names, s.Name)
	}
	return names
}
