package aqm

import (
	"slices"

	"aqmlab/kind"
)

// oneOf checks a parameter whose value is one of a few words.
func oneOf(param, value string, words ...string) error {
	if slices.Contains(words, value) {
		return nil
	}
	return kind.Invalid(param, "%w", kind.Unknown("choice", value, words))
}
