package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// documented is a command of aqmlab in the documentation.
type documented struct {
	file  string
	words []string // without the program's name
}

// documentation is all commands in blocks of shell in the Markdown files for users.
func documentation(t *testing.T) (all []documented) {
	t.Helper()
	files, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```sh\n(.*?)^```")
	for _, file := range append(files, "../README.md", "../CONTRIBUTING.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range blocks.FindAllStringSubmatch(string(text), -1) {
			script := strings.ReplaceAll(block[1], "\\\n", " ")
			for line := range strings.Lines(script) {
				for _, words := range simple(line) {
					if given := ours(words); given != nil {
						all = append(all, documented{filepath.Base(file), given})
					}
				}
			}
		}
	}
	return all
}

// simple splits a line of shell into its simple commands, and these into words. Quotes
// hold words together; variables stay as they are.
func simple(line string) (commands [][]string) {
	var words []string
	var word strings.Builder
	quote, begun := rune(0), false
	end := func() {
		if begun {
			words = append(words, word.String())
		}
		word.Reset()
		begun = false
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case r == '#' && !begun:
			return append(commands, words)
		case strings.ContainsRune("|&;<>()\n", r):
			end()
			commands = append(commands, words)
			words = nil
		case r == ' ' || r == '\t':
			end()
		default:
			begun = true
			word.WriteRune(r)
		}
	}
	end()
	return append(commands, words)
}

// ours are the words after the program's name; nil: it is another program.
func ours(words []string) []string {
	setting := regexp.MustCompile(`^[A-Z_]+=`)
	for len(words) > 0 && (setting.MatchString(words[0]) || slices.Contains([]string{"do", "then", "time", "sudo"}, words[0])) {
		words = words[1:]
	}
	switch {
	case len(words) > 1 && (words[0] == "aqmlab" || words[0] == "./aqmlab"):
		return words[1:]
	case len(words) > 3 && words[0] == "go" && words[1] == "run" && words[2] == ".":
		return words[3:]
	}
	return nil
}

// TestDocumentedCommands: every command in the documentation is one, with the flags and
// as many arguments as it takes. Those that only read what ships with aqmlab are run.
func TestDocumentedCommands(t *testing.T) {
	all := documentation(t)
	if len(all) < 100 {
		t.Fatalf("%d commands are found", len(all))
	}
	ran := 0
	for _, d := range all {
		root, err := App{}.Command()
		if err != nil {
			t.Fatal(err)
		}
		line := d.file + ": aqmlab " + strings.Join(d.words, " ")
		c, rest, err := root.Find(d.words)
		if err == nil {
			err = c.ParseFlags(rest)
		}
		if err == nil {
			err = c.ValidateArgs(c.Flags().Args())
		}
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if !reads(c.CommandPath()) || slices.ContainsFunc(d.words, func(word string) bool { return !shipped(word) }) {
			continue
		}
		ran++
		var complaint bytes.Buffer
		if code := (App{}).Main(d.words, Streams{Out: new(bytes.Buffer), Err: &complaint}); code != 0 {
			t.Errorf("%s ends with %d: %s", line, code, &complaint)
		}
	}
	if ran < 8 {
		t.Errorf("%d commands are run", ran)
	}
}

// reads tells whether a command only prints what is in the program.
func reads(path string) bool {
	return regexp.MustCompile(`^aqmlab (lab (list|show|check|schema|export)|(scheme|scheduler|workload|transport) (list|show))$`).MatchString(path)
}

// shipped tells whether a word names nothing that a reader would have to make: a
// file, or the scheme that the tutorial adds.
func shipped(arg string) bool {
	return !strings.HasSuffix(arg, ".yaml") && !strings.HasSuffix(arg, ".yml") && arg != "avq" && arg != "blue" && arg == strings.ToLower(arg)
}
