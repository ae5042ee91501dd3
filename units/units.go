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
	factor float64
}

// rateUnits and sizeUnits are tried in order, so a longer suffix precedes the
// one that it ends with. The first of each factor is the printed form.
var (
	rateUnits = []unit{{"Tbps", 1e12}, {"Gbps", 1e9}, {"Mbps", 1e6}, {"Kbps", 1e3}, {"kbps", 1e3}, {"bps", 1}}
	sizeUnits = []unit{
		{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
		{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"kB", 1e3}, {"B", 1},
	}
)

// ParseRate reads a rate such as "10Gbps", "100 Mbps" or "1.5Gbps". The result
// is positive and below 9.2e18.
func ParseRate(s string) (Rate, error) {
	v, err := parse(s, rateUnits, "a rate such as 10Gbps, 100Mbps or 64Kbps")
	return Rate(v), err
}

// ParseSize reads a size such as "96KB", "1.5MB", "2500B" or "64KiB". The
// result is zero or more.
func ParseSize(s string) (Size, error) {
	v, err := parse(s, sizeUnits, "a size such as 96KB, 2500B, 1MB or 64KiB")
	return Size(v), err
}

// ParseTime reads a span of lab time such as "250us" or "10ms".
func ParseTime(s string) (time.Duration, error) {
	d, err := time.ParseDuration(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		return 0, fmt.Errorf("%q is not a time: want one such as 250us, 10ms or 1.5s", s)
	}
	return d, nil
}

func parse(s string, table []unit, want string) (int64, error) {
	t := strings.TrimSpace(s)
	for _, u := range table {
		num, ok := strings.CutSuffix(t, u.suffix)
		if !ok {
			continue
		}
		f, err := strconv.ParseFloat(strings.TrimSpace(num), 64)
		v := math.Round(f * u.factor)
		if err != nil || math.IsNaN(v) || v < 0 || v >= math.MaxInt64 {
			break
		}
		return int64(v), nil
	}
	return 0, fmt.Errorf("%q is not %s", s, want)
}

// String prints the rate in the largest unit that keeps it exact.
func (r Rate) String() string { return format(int64(r), rateUnits) }

// String prints the size in the largest decimal unit that keeps it exact.
func (s Size) String() string { return format(int64(s), sizeUnits[3:]) }

// format prints v in the largest unit of the table in which it needs at most
// three decimals, so that printing and parsing are each other's inverse.
func format(v int64, table []unit) string {
	for _, u := range table {
		f := float64(v) / u.factor
		if math.Abs(f) >= 1 && int64(f*1000)*int64(u.factor) == v*1000 {
			return strconv.FormatFloat(f, 'f', -1, 64) + u.suffix
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

// Bytes is how many whole bytes the rate carries in d, rounded down.
func (r Rate) Bytes(d time.Duration) int64 {
	return int64(float64(r) / 8 * d.Seconds())
}

// Time is how long the rate takes to carry n bytes, rounded to the nearest
// nanosecond. Use a [Clock] where rounding must not add up over many packets.
func (r Rate) Time(n int) time.Duration {
	return time.Duration(math.Round(float64(n) * 8e9 / float64(r)))
}
