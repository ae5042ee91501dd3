package store

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// A sealed file is a JSON object whose last key holds the SHA-256 of the file as it
// would be without that key. So the file can be copied and renamed, and still tells
// when it was changed.
const sealKey = `"sha256":`

// ErrChanged is wrapped by errors about files that are not as they were written.
var ErrChanged = errors.New("damaged or changed by hand: its SHA-256 is not the one that was noted when it was written")

// Seal seals a JSON object, which ends with a brace and a newline.
func Seal(object []byte) []byte {
	body, between := bytes.TrimSuffix(object, []byte("}\n")), ","
	end := "}\n"
	if indented, ok := bytes.CutSuffix(body, []byte("\n")); ok {
		body, between, end = indented, ",\n  ", "\n}\n"
	}
	return fmt.Appendf(bytes.Clone(body), `%s%s "%s"%s`, between, sealKey, hashOf(object), end)
}

// Unseal checks what Seal made, and returns what it was made of. A file without a seal,
// as older versions wrote, is returned as it is.
func Unseal(path string, b []byte) ([]byte, error) {
	at := bytes.LastIndex(b, []byte(sealKey))
	if at < 0 {
		return b, nil
	}
	body, end := bytes.TrimRight(b[:at], " "), "}\n"
	if bytes.HasSuffix(body, []byte("\n")) {
		end = "\n}\n"
	}
	object := append(bytes.Clone(bytes.TrimRight(body, ",\n")), end...)
	if !bytes.Equal(Seal(object), b) {
		return nil, fmt.Errorf("reading %s: %w (its last key, %s; without that key it is read as it is)", path, ErrChanged, strings.Trim(sealKey, `":`))
	}
	return object, nil
}
