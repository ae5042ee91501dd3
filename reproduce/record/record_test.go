package record

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"aqmlab/results"
)

// A record reads as it was written, numbers without a word in JSON included, and
// has one order.
func TestRecordRoundTrip(t *testing.T) {
	dir := t.TempDir()
	o := Origin{Version: "v1", Machine: results.Machine{CPU: "a \"b\"", Cores: 2}}
	r := &Record{Paper: "x", Experiment: "x-1", Origins: map[string]Origin{Hash(o): o, "unused": {}}, Figures: []Figure{
		{Claim: "x-1-c2", Runtime: "sim", Value: Number(math.Inf(1)), From: Number(math.Inf(-1)), CI95: &[2]Number{-1.5, 2}, Origin: Hash(o), Measured: time.Unix(1, 0).UTC()},
		{Claim: "x-1-c1", Runtime: "sim", Nothing: "none | at all", Origin: Hash(o)},
	}, Points: []Point{{Lab: "x", Coord: results.Coord{Scheme: "s"}, FCT: map[string][]float64{"all": {1, 2.5}}, Origin: Hash(o)}}}
	if err := r.Save(dir); err != nil {
		t.Fatal(err)
	}
	got, err := Load(dir, "x", "x-1")
	if err != nil {
		t.Fatal(err)
	}
	if r.Figures[0].Claim != "x-1-c1" || len(r.Origins) != 1 || !reflect.DeepEqual(got, r) {
		t.Errorf("read %+v\nwrote %+v", got, r)
	}
	if text := got.text(); !bytes.Equal(text, r.text()) || !json.Valid(text) {
		t.Errorf("written again\n%s", text)
	}
	if err := os.WriteFile(file(dir, "x", "x-1"), []byte(`{"figures": [], "colour": 1}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir, "x", "x-1"); err == nil || !strings.Contains(err.Error(), "colour") || !strings.Contains(err.Error(), "x-1.json") {
		t.Errorf("error %v", err)
	}
}
