package labs_test

import (
	"errors"
	"strings"
	"testing"

	"aqmlab/kind"
	"aqmlab/labs"
)

const pointLab = `
name: p
topology: {hosts: 3, rate: 1Gbps}
schemes: [{name: droptail, aqm: droptail}, {name: tcn, aqm: tcn, threshold: 1ms}]
workload: {load: [0.3, 0.5], flows: 10}
seeds: [1, 2]
`

// TestPointText: a point is the same in labs that differ only in what others they
// have, and another when it is measured in another way.
func TestPointText(t *testing.T) {
	of := func(text, scheme string) string {
		l, err := labs.Parse("x.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		k, err := l.PointText(scheme)
		if err != nil {
			t.Fatal(err)
		}
		if len(l.Schemes) != 2 || len(l.Seeds) == 0 {
			t.Fatalf("asking for the text changed the lab: %+v", l)
		}
		return k
	}
	tcn := of(pointLab, "tcn")
	for change, same := range map[[2]string]bool{
		{"[1, 2]", "[7, 2, 3]"}:                true,
		{"[0.3, 0.5]", "0.5"}:                  true,
		{"name: droptail", "name: other"}:      true,
		{"name: p", "name: p\ntitle: a title"}: true,
		{"threshold: 1ms", "threshold: 2ms"}:   false,
		{"flows: 10", "flows: 11"}:             false,
		{"rate: 1Gbps", "rate: 2Gbps"}:         false,
		{"name: tcn, aqm: tcn", "name: tcn, aqm: codel, target: 1ms, interval: 9ms}, {name: z, aqm: tcn"}: false,
	} {
		text := strings.Replace(pointLab, change[0], change[1], 1)
		if strings.Contains(text, "name: z") {
			text = strings.Replace(text, "{name: droptail, aqm: droptail}, ", "", 1)
		}
		if got := of(text, "tcn"); (got == tcn) != same {
			t.Errorf("%v: text %s beside %s", change, got, tcn)
		}
	}
	if of(pointLab, "droptail") == tcn {
		t.Error("two schemes have one text")
	}
	l, err := labs.Parse("x.yaml", []byte(pointLab))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.PointText("red"); !errors.Is(err, kind.ErrUnknown) {
		t.Errorf("an unknown scheme: %v", err)
	}
}
