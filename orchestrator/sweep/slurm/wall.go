package slurm

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Wall is a wall time: seconds to days.
type Wall time.Duration

// UnmarshalText reads 90s, 10m, 1h30m, or what Slurm writes: 30:00, 12:00:00, 2-00:00:00.
func (w *Wall) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if err != nil {
		d, err = readTime(string(text))
	}
	if err != nil || d < time.Second {
		return fmt.Errorf("%q is no time of a second or more: want one such as 90s, 10m, 1h30m or 1-12:00:00", text)
	}
	*w = Wall(d)
	return nil
}

// String is the time as users write it: without the zeros of [time.Duration].
func (w Wall) String() string {
	text := time.Duration(w).String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return text
}

// readTime reads [days-][hours:]minutes:seconds.
func readTime(text string) (time.Duration, error) {
	parts := regexp.MustCompile(`^(?:(\d{1,4})-(\d{1,2}):|(\d{1,4}):)?(\d{1,2}):(\d{1,2})$`).FindStringSubmatch(text)
	if parts == nil {
		return 0, errors.New("no time of Slurm")
	}
	total := time.Duration(0)
	for i, unit := range []time.Duration{24 * time.Hour, time.Hour, time.Hour, time.Minute, time.Second} {
		if n, err := strconv.Atoi(parts[i+1]); err == nil {
			total += time.Duration(n) * unit
		}
	}
	return total, nil
}
