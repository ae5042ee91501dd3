package layout

import "testing"

func TestFormats(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Micros(0), "0.0us"}, {Micros(1234.56), "1234.6us"}, {Micros(9999.94), "9999.9us"},
		{Micros(9999.96), "10.0ms"}, {Micros(1.5e6), "1500.0ms"}, {Micros(12.34e6), "12.3s"},
		{Count(0), "0"}, {Count(999_999), "999999"}, {Count(1_234_567), "1.23M"},
		{Count(987_654_321), "988M"}, {Count(999_600_000), "1G"}, {Count(12_300_000_000), "12.3G"},
		{Ratio(1), "x1.00"}, {Ratio(0.004), "x0.00"}, {Ratio(12.345), "x12.35"}, {Ratio(123.4), "x123"},
		{Shorten("tcn", 5), "tcn"}, {Shorten("codel", 5), "codel"}, {Shorten("dctcp-red", 5), "dct.."}, {Shorten("dctcp-red-tail@12", 10), "dctcp..@12"}, {Shorten("a@very-long-name", 8), "a@very.."},
		{Wrap("a bb  ccc", 100, ""), "a bb ccc"}, {Wrap("aaaa bbb cc d", 8, "  "), "aaaa bbb\n  cc d"}, {Wrap("", 10, " "), ""}, {Pad("µs", 4), "µs  "}, {Lead("±1", 3), " ±1"}, {Lead("long", 2), "long"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
