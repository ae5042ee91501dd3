package clab

import (
	"fmt"
	"strconv"
	"strings"
)

// Share is from 0 to below 1, and a percentage in text.
type Share float64

// UnmarshalText reads a percentage, with its sign: containerlab's own netem takes
// percent without one, so a bare number could be meant either way.
func (s *Share) UnmarshalText(text []byte) error {
	number, ok := strings.CutSuffix(string(text), "%")
	share, err := strconv.ParseFloat(strings.TrimSpace(number)+"e-2", 64) // exact, where dividing by 100 is not
	switch {
	case !ok || err != nil:
		return fmt.Errorf("%q is not a percentage such as 0.1%%", text)
	case share < 0 || share >= 1:
		return fmt.Errorf("%s is outside 0%% to below 100%%", text)
	}
	*s = Share(share)
	return nil
}

// String writes a share above 0 so that it is read as the same.
func (s Share) String() string {
	digits := strings.TrimPrefix(strconv.FormatFloat(float64(s), 'f', -1, 64), "0.") + "0"
	whole := strings.TrimPrefix(digits[:2], "0")
	if rest := strings.TrimSuffix(digits[2:], "0"); rest != "" {
		return whole + "." + rest + "%"
	}
	return whole + "%"
}
