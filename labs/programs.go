package labs

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"aqmlab/kind"
	"aqmlab/results"
)

// Program is a command that runs on a host of the lab, beside the workload or in its
// place, for every scheme and seed alike.
type Program struct {
	Name    string        `lab:"name" form:"name" doc:"unique in the lab"`
	On      string        `lab:"on" doc:"required; host that it runs on, such as h2"`
	Run     []string      `lab:"run" form:"command" doc:"required; the program and its arguments, with [placeholders](programs.md#placeholders)"`
	Env     []string      `lab:"env" form:"command" write:"set" doc:"variables of its environment, NAME=value, with placeholders"`
	Stdin   string        `lab:"stdin" form:"text" write:"set" doc:"text that it reads as its input; none when absent"`
	At      time.Duration `lab:"at" range:"0s..1000s" doc:"time of its start; one that listens starts before time zero"`
	Stop    time.Duration `lab:"stop" write:"set" range:"1ns..1000s" doc:"time of its end: it gets SIGTERM, and a second later SIGKILL; without, it ends by itself"`
	Serves  bool          `lab:"serves" write:"set" default:"false" doc:"it runs as long as there is anything else, and is stopped then"`
	Listens []int         `lab:"listens" write:"set" distinct:"yes" range:"1..65535" doc:"TCP or UDP ports; time zero comes when it listens at all of them"`
	Expect  int           `lab:"expect" write:"set" range:"0..255" doc:"exit status that it is to end with, unless it is stopped"`
	Metrics kind.Choice   `lab:"metrics" kinds:"metrics" doc:"where its own figures are read from; none when absent"`
}

// Running is what a program is at a point: its placeholders are filled in. addresses
// has those of the hosts, by name.
func (p Program) Running(at results.Coord, addresses map[string]string) Program {
	known := placeholders(at, addresses)
	fill := func(all []string) []string {
		filled := make([]string, len(all))
		for i, text := range all {
			filled[i] = expand(text, func(name string) string { return known[name] })
		}
		return filled
	}
	p.Run, p.Env = fill(p.Run), fill(p.Env)
	return p
}

// placeholders are the values of all names that braces may hold.
func placeholders(at results.Coord, addresses map[string]string) map[string]string {
	known := map[string]string{
		"scheme": at.Scheme,
		"load":   strconv.FormatFloat(at.Load, 'g', -1, 64),
		"seed":   strconv.FormatUint(at.Seed, 10),
	}
	for host, address := range addresses {
		known[host] = address
	}
	return known
}

// braced matches a placeholder, one that stands for its own text ({{h1}}), and what is
// none: a variable of a shell (${h1}) or of a format (%{h1}).
var braced = regexp.MustCompile(`[$%]\{|\{\{[A-Za-z][A-Za-z0-9_-]*\}\}|\{[A-Za-z][A-Za-z0-9_-]*\}`)

// expand replaces the placeholders of a text.
func expand(text string, value func(name string) string) string {
	return braced.ReplaceAllStringFunc(text, func(found string) string {
		switch {
		case found == "${", found == "%{":
			return found
		case strings.HasPrefix(found, "{{"):
			return found[1 : len(found)-1]
		}
		return value(found[1 : len(found)-1])
	})
}

// usesLoad tells whether a program differs by the load.
func (p Program) usesLoad() bool {
	uses := false
	for _, text := range slices.Concat(p.Run, p.Env) {
		expand(text, func(name string) string {
			uses = uses || name == "load"
			return ""
		})
	}
	return uses
}

// readCommand reads the words of a command, which may have several lines. In a file a
// whole number is a word like any other; other numbers are not what was written.
func readCommand(raw, into any, plain func() error) error {
	all, ok := raw.([]any)
	if !ok {
		return plain()
	}
	words := make([]string, len(all))
	for i, one := range all {
		switch v := one.(type) {
		case string:
			words[i] = v
		case int, int64, uint64:
			words[i] = fmt.Sprint(v)
		case map[string]any:
			return &kind.ElementError{Index: i, Err: errors.New(`braces are a mapping in YAML: want quotes around a placeholder, as in "{h1}"`)}
		default:
			return &kind.ElementError{Index: i, Err: fmt.Errorf("%s is not text: want quotes around it", kind.Show(one))}
		}
		if err := checkText(words[i]); err != nil {
			return &kind.ElementError{Index: i, Err: err}
		}
	}
	*into.(*[]string) = words
	return nil
}

// readText reads text of any number of lines.
func readText(raw, into any, _ func() error) error {
	s, ok := kind.AsText(raw)
	if !ok {
		return fmt.Errorf("%s is not text", kind.Show(raw))
	}
	*into.(*string) = s
	return checkText(s)
}

// checkText refuses what no command may have.
func checkText(s string) error {
	if strings.ContainsRune(s, 0) || !utf8.ValidString(s) {
		return fmt.Errorf("%s is not text: it has a zero byte, or is not UTF-8", kind.Show(s))
	}
	return nil
}
