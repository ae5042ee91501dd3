package results

import (
	"fmt"
	"strings"
)

// Join prints values with commas between.
func Join[T any](values []T) string {
	text := make([]string, len(values))
	for i, v := range values {
		text[i] = fmt.Sprint(v)
	}
	return strings.Join(text, ", ")
}
