package layout

import "testing"

// TestText: what does not fit stands below, beside the first column again.
func TestText(t *testing.T) {
	table := Table{Title: "Times", Head: []string{"scheme", "avg", "p99 of all"}, Rows: [][]string{{"tcn", "1us", "±3"}, {"droptail", "20us", ""}}}
	for width, want := range map[int]string{
		40: "Times\nscheme     avg  p99 of all\ntcn        1us          ±3\ndroptail  20us\n",
		20: "Times\nscheme     avg\ntcn        1us\ndroptail  20us\n\nscheme    p99 of all\ntcn               ±3\ndroptail\n",
		5:  "Times\nscheme     avg\ntcn        1us\ndroptail  20us\n\nscheme    p99 of all\ntcn               ±3\ndroptail\n",
	} {
		if got := table.Text(width); got != want {
			t.Errorf("%d characters wide:\n%swant\n%s", width, got, want)
		}
	}
}
