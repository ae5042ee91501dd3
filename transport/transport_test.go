package transport

import "testing"

// TestTable: ECN is what DCTCP (RFC 8257) and the papers' ECN* (RFC 3168) need,
// and what the plain transports do without.
func TestTable(t *testing.T) {
	want := map[string]bool{"dctcp": true, "ecn-star": true, "reno": false, "cubic": false}
	for _, k := range Table() {
		made, err := Table().New(k.Name, nil, struct{}{})
		if err != nil {
			t.Fatal(err)
		}
		ecn, known := want[k.Name]
		if !known || made.ECN != ecn || made.Name != k.Name || k.Doc == "" {
			t.Errorf("%+v, doc %q", made, k.Doc)
		}
		delete(want, k.Name)
	}
	if len(want) > 0 {
		t.Errorf("not in the table: %v", want)
	}
}
