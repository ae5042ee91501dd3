package journal

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzDecode: whatever a journal holds, its entries are read, one a line, or refused.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"kind":"namespace","name":"aqm-1-h1"}` + "\n" + `{"kind":"process","name":"switch","pid":12,"start":34}` + "\n"))
	f.Add([]byte(`{"kind":"file","name":"/run/x"}{"kind":"file","name":"y"}` + "\n"))
	f.Add([]byte("\n{}\nnull\n[]\n\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		entries, err := decode(raw)
		if err != nil {
			return
		}
		if lines := bytes.Count(raw, []byte("\n")) + 1; len(entries) > lines {
			t.Errorf("%d entries in %d lines", len(entries), lines)
		}
		if _, err := json.Marshal(entries); err != nil {
			t.Error(err)
		}
	})
}
