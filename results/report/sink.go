package report

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// Format is how [Export] writes.
type Format string

// The formats.
const (
	CSV  Format = "csv"  // a header, then a line a row; what is null is empty
	JSON Format = "json" // an array with an object a row
)

// sink takes a table row by row. A value is nil, a bool, an int64, a uint64, a
// float64 or a string.
type sink interface {
	header(names []string) error
	row(values []any) error
	end() error
}

func newSink(w io.Writer, as Format) sink {
	if as == JSON {
		return &jsonSink{w: bufio.NewWriter(w)}
	}
	return &csvSink{w: csv.NewWriter(w)}
}

type csvSink struct {
	w    *csv.Writer
	line []string
}

var _ sink = (*csvSink)(nil)

func (s *csvSink) header(names []string) error { return s.w.Write(names) }

func (s *csvSink) row(values []any) error {
	s.line = s.line[:0]
	for _, v := range values {
		s.line = append(s.line, csvText(v))
	}
	return s.w.Write(s.line)
}

func (s *csvSink) end() error {
	s.w.Flush()
	return s.w.Error()
}

// csvText prints numbers so that they read back as the same.
func csvText(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(value)
}

// jsonSink keeps the columns of an object in the order of the header, which a
// map would lose.
type jsonSink struct {
	w     *bufio.Writer
	names [][]byte
	rows  int
}

var _ sink = (*jsonSink)(nil)

func (s *jsonSink) header(names []string) error {
	for _, n := range names {
		b, err := json.Marshal(n)
		if err != nil {
			return err
		}
		s.names = append(s.names, b)
	}
	_, err := s.w.WriteString("[")
	return err
}

func (s *jsonSink) row(values []any) error {
	before := ",\n {"
	if s.rows == 0 {
		before = "\n {"
	}
	s.rows++
	s.w.WriteString(before)
	for i, v := range values {
		b, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if i > 0 {
			s.w.WriteString(", ")
		}
		s.w.Write(s.names[i])
		s.w.WriteString(": ")
		s.w.Write(b)
	}
	_, err := s.w.WriteString("}") // reports what failed before, too
	return err
}

func (s *jsonSink) end() error {
	s.w.WriteString("\n]\n")
	return s.w.Flush()
}
