package parser

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"aqmlab/results"
)

// What lines come from.
const (
	fromStdout     = "stdout"
	fromStderr     = "stderr"
	fromDescriptor = "descriptor"
)

// lines reads JSON Lines. Lines that begin with no brace are the program's own words.
type lines struct {
	From string `lab:"from" oneof:"stdout,stderr,descriptor" doc:"what the lines are written on; descriptor is number 3"`
	File string `lab:"file" doc:"in its place, a file in the program's folder, which it writes"`
}

var _ Parser = lines{}

func newLines(l lines, _ struct{}) (Parser, error) {
	if l.File != "" && !filepath.IsLocal(l.File) {
		return nil, fmt.Errorf("file: %s is not in the program's folder: want a relative path below it", l.File)
	}
	return l, nil
}

func (l lines) Source() Source {
	return Source{Descriptor: l.File == "" && l.From == fromDescriptor, File: l.File}
}

func (l lines) Parse(o Output) ([]results.ProgramSample, error) {
	from, text := l.From, map[string][]byte{fromStdout: o.Stdout, fromStderr: o.Stderr, fromDescriptor: o.Figures}[l.From]
	if l.File != "" {
		from, text = l.File, o.Figures
	}
	var all []results.ProgramSample
	number := 0
	for line := range bytes.Lines(text) {
		number++
		line = bytes.TrimSpace(line)
		if !bytes.HasPrefix(line, []byte("{")) {
			continue
		}
		s, err := parseLine(line)
		if err != nil {
			return nil, fmt.Errorf("line %d of %s: %w", number, from, err)
		}
		all = append(all, s)
	}
	return all, nil
}

func parseLine(line []byte) (results.ProgramSample, error) {
	var read struct {
		Metric string   `json:"metric"`
		Value  *float64 `json:"value"`
		Unit   string   `json:"unit"`
		Better string   `json:"better"`
	}
	if err := json.Unmarshal(line, &read); err != nil {
		return results.ProgramSample{}, err
	}
	switch {
	case read.Metric == "":
		return results.ProgramSample{}, errors.New(`it has no "metric", the name of the figure`)
	case read.Value == nil || math.IsInf(*read.Value, 0):
		return results.ProgramSample{}, errors.New(`it has no "value", a number`)
	case read.Better != "" && read.Better != results.Lower && read.Better != results.Higher:
		return results.ProgramSample{}, fmt.Errorf(`"better" is %q: want %s or %s`, read.Better, results.Lower, results.Higher)
	case read.Better == "":
		read.Better = results.Lower
	}
	return results.ProgramSample{Metric: read.Metric, Unit: read.Unit, Better: read.Better, Value: *read.Value}, nil
}
