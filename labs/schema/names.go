package schema

import (
	"fmt"
	"strings"

	"aqmlab/kind"
)

// checkName is the error for what is no name that is fit for folders and
// commands, too.
func checkName(raw any) error {
	if s, ok := kind.AsText(raw); !ok || !IsName(s) {
		return fmt.Errorf("%s is not a name: want lower-case letters, digits and hyphens, at most 64", kind.Show(raw))
	}
	return nil
}

// IsName tells whether a text may name a lab, or an entry of a list.
func IsName(s string) bool {
	return s != "" && len(s) <= 64 && s[0] != '-' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// Name is the form of names.
func Name() Form {
	return Form{
		Type: "name",
		Read: func(raw, _ any, plain func() error) error {
			if err := checkName(raw); err != nil {
				return err
			}
			return plain()
		},
		JSON: func(map[string]any) map[string]any {
			return map[string]any{"type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,63}$"}
		},
	}
}
