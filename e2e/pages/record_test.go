package pages

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// documented is a command of aqmlab on a page.
type documented struct {
	page  string
	line  int
	words []string // without the program's name, as the shell gives them to it
}

func (d documented) String() string {
	return d.page + ":" + strconv.Itoa(d.line) + ": aqmlab " + strings.Join(d.words, " ")
}

// recorder has the shell write down what it would have aqmlab do, and do nothing else.
const recorder = `PATH=/nowhere
record() { printf '%s\0' "$1" "$(($# - 1))" "${@:2}" >&3; }
aqmlab() { record "${BASH_LINENO[0]}" "$@"; }
go() { if [[ "$1 $2" == "run ." ]]; then record "${BASH_LINENO[0]}" "${@:3}"; fi; }
sudo() { "$@"; }
cd() { :; }
command_not_found_handle() { :; }
`

// commands are all commands of aqmlab in the shell's blocks of a page. Of a loop they are
// those of its first round.
func (p *page) commands(t *testing.T) (all []documented) {
	t.Helper()
	for _, b := range p.shell {
		dir := t.TempDir()
		file, err := os.Create(filepath.Join(dir, "commands"))
		if err != nil {
			t.Fatal(err)
		}
		script := strings.ReplaceAll(recorder+b.text, "\n./aqmlab ", "\naqmlab ")
		c := exec.Command("bash", "-c", script)
		c.Dir, c.ExtraFiles = dir, []*os.File{file}
		_ = c.Run() // what is not there fails, and is not ours
		file.Close()
		text, err := os.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		before := strings.Count(recorder, "\n")
		seen := map[int]bool{}
		for fields := strings.Split(string(text), "\x00"); len(fields) > 1; {
			line, _ := strconv.Atoi(fields[0]) // the recorder writes numbers
			n, _ := strconv.Atoi(fields[1])
			words := fields[2 : 2+n]
			fields = fields[2+n:]
			if !seen[line] {
				seen[line] = true
				all = append(all, documented{p.name, b.from + line - before, words})
			}
		}
	}
	return all
}
