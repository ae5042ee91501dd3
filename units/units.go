// Package units holds the quantities that labs are written in (rates and
// sizes, beside time.Duration for lab time) and their text forms: "10Gbps",
// "96KB", "250us".
//
// Prefixes are decimal, as in the papers: 1 KB is 1000 bytes, 1 Mbps is
// 1,000,000 bits a second. Binary prefixes (KiB, MiB, GiB) are understood for
// sizes. A bare number has no unit and is refused.
package units

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// Rate is a data rate in bits per second.
type Rate int64

// Common rates.
const (
	Kbps Rate = 1e3
	Mbps Rate = 1e6
	Gbps Rate = 1e9
)

// Size is an amount of data in bytes.
type Size int64

// Common sizes.
const (
	Byte Size = 1
	KB   Size = 1e3
	MB   Size = 1e6
	GB   Size = 1e9
)

// unit is one accepted suffix and the number of base units that it stands for.
type unit struct {
	suffix string
	factor int64
}

// rateUnits and sizeUnits are tried in order, so a longer suffix precedes the
// one that it ends with. The first of each factor is the printed form.
var (
	rateUnits = []unit{{"Tbps", 1e12}, {"Gbps", 1e9}, {"Mbps", 1e6}, {"Kbps", 1e3}, {"kbps", 1e3}, {"bps", 1}}
	sizeUnits = []unit{
		{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
		{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"kB", 1e3}, {"B", 1},
	}
	timeUnits = []unit{{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}}
)

// ParseRate reads a rate such as "10Gbps", "100 Mbps" or "1.5Gbps". The result
// is zero or more and below 9.2e18; a fraction of a bit is rounded to nearest.
func ParseRate(s string) (Rate, error) {
	v, err := parse(s, rateUnits, "a rate such as 10Gbps, 100Mbps or 64Kbps")
	return Rate(v), err
}

// ParseSize reads a size such as "96KB", "1.5MB", "2500B" or "64KiB". The
// result is zero or more; a fraction of a byte is rounded to nearest.
func ParseSize(s string) (Size, error) {
	v, err := parse(s, sizeUnits, "a size such as 96KB, 2500B, 1MB or 64KiB")
	return Size(v), err
}

// ParseTime reads a span of lab time such as "250us", "10 ms" or "1m30s". A
// negative span is read as such.
func ParseTime(s string) (time.Duration, error) {
	t := strings.TrimSpace(s)
	if number, unit, ok := strings.Cut(t, " "); ok {
		unit = strings.TrimSpace(unit)
		if strings.TrimLeft(unit, "nuµmsh") != "" {
			return 0, notTime(s)
		}
		t = number + unit
	}
	d, err := time.ParseDuration(t)
	if err != nil || strings.HasSuffix(t, "0") { // time.ParseDuration lets a bare zero pass
		return 0, notTime(s)
	}
	return d, nil
}

func notTime(s string) error {
	return fmt.Errorf("%q is not a time: want one such as 250us, 10ms or 1.5s", s)
}

// FormatTime prints a span of lab time in the largest unit in which it needs at
// most three decimals. [ParseTime] reads it back to the same span.
func FormatTime(d time.Duration) string {
	if d == 0 {
		return "0s"
	}
	return format(int64(d), timeUnits)
}

// parse reads a number and one of the table's units. Whole numbers stay exact
// over the whole range of int64, beyond that of a float64.
func parse(s string, table []unit, want string) (int64, error) {
	t := strings.TrimSpace(s)
	for _, u := range table {
		num, ok := strings.CutSuffix(t, u.suffix)
		if !ok {
			continue
		}
		num = strings.TrimSpace(num)
		if n, err := strconv.ParseInt(num, 10, 64); err == nil && n >= 0 && n <= math.MaxInt64/u.factor {
			return n * u.factor, nil
		}
		f, err := strconv.ParseFloat(num, 64)
		v := math.Round(f * float64(u.factor))
		if err != nil || math.IsNaN(v) || v < 0 || v >= math.MaxInt64 {
			break
		}
		return int64(v), nil
	}
	return 0, fmt.Errorf("%q is not %s", s, want)
}

// String prints the rate in the largest unit in which it needs at most three
// decimals.
func (r Rate) String() string { return format(int64(r), rateUnits) }

// String prints the size in the largest decimal unit in which it needs at most
// three decimals.
func (s Size) String() string { return format(int64(s), sizeUnits[3:]) }

// format prints v in the largest unit of the table in which it needs at most
// three decimals, so that printing and parsing are each other's inverse. Beyond
// what a float64 holds to the last digit it prints whole base units.
func format(v int64, table []unit) string {
	const exact = 1e15
	for _, u := range table {
		step := max(u.factor/1000, 1)
		if v/u.factor != 0 && v%step == 0 && -exact < v && v < exact {
			return strconv.FormatFloat(float64(v)/float64(u.factor), 'f', -1, 64) + u.suffix
		}
	}
	return strconv.FormatInt(v, 10) + table[len(table)-1].suffix
}

// MarshalText prints the rate for YAML and JSON.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a rate from YAML or JSON.
func (r *Rate) UnmarshalText(b []byte) (err error) {
	*r, err = ParseRate(string(b))
	return err
}

// MarshalText prints the size for YAML and JSON.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a size from YAML or JSON.
func (s *Size) UnmarshalText(b []byte) (err error) {
	*s, err = ParseSize(string(b))
	return err
}

// Bytes is how many whole bytes the rate carries in d, rounded down; none when d
// is negative. It is exact, and stops at the largest int64.
func (r Rate) Bytes(d time.Duration) int64 {
	if r <= 0 || d <= 0 {
		return 0
	}
	const bitNanoseconds = 8e9 // of one byte at 1 bps
	hi, lo := bits.Mul64(uint64(r), uint64(d))
	if hi >= bitNanoseconds {
		return math.MaxInt64
	}
	n, _ := bits.Div64(hi, lo, bitNanoseconds)
	return int64(min(n, math.MaxInt64))
}

// Time is how long the rate, which is above zero, takes to carry n bytes,
// rounded to the nearest nanosecond. Use a [Clock] where rounding must not add
// up over many packets.
func (r Rate) Time(n int) time.Duration {
	return time.Duration(math.Round(float64(n) * 8e9 / float64(r)))
}

// Clock adds up transmission times without losing the fractions of a
// nanosecond that they end in: at 100 Gbps a full frame takes 123.04 ns, and
// rounding each would bend the rate by a third of a per mille.
//
// The zero Clock is ready to use.
type Clock struct {
	rest int64 // numerator of the fraction of a nanosecond carried over, over the rate
}

// Transmit returns when n bytes that start at start will have been sent at
// rate r. A transmission that directly follows the one before it (back to
// back) carries the fraction over; any other starts afresh.
func (c *Clock) Transmit(start time.Duration, n int, r Rate, backToBack bool) time.Duration {
	if !backToBack {
		c.rest = 0
	}
	bits := int64(n)*8e9 + c.rest
	c.rest = bits % int64(r)
	return start + time.Duration(bits/int64(r))
}
