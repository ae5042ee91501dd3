package pages

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"aqmlab/cli"
)

// left are the commands that are not run here, with the reason. Their flags and arguments
// are checked all the same.
var left = []struct{ command, reason string }{
	{`--runtime (uml|netns|docker)|--kernel|out/(uml|6)`, "hosts with a kernel: tests in e2e have them"},
	{`^lab (up|down|exec|stats|use|set|event|status)`, "a lab that stays up: e2e/live_test.go"},
	{`^(kernel|image|bench|doctor)\b`, "is about this machine"},
	{`^serve`, "does not end"},
	{`--machines|^machines`, "machines of a rack: e2e/rack_test.go"},
	{`--engine slurm|--attach|sweep cancel`, "a cluster: e2e/slurm_test.go"},
	{`/shared/|reproduce/record/runs`, "a folder of the reader's"},
	{`^reproduce`, "minutes: package reproduce tests it in small"},
	{`results import`, "another simulator's output: cli/import_test.go"},
	{`results rm|--resume`, "a run that is there no more, or is not whole: results/store"},
	{`[a-z.]+\.clab\.yml`, "a file of containerlab's: labs/clab"},
	{`\b(avq|blue)\b`, "the tutorial's scheme: TestPages"},
	{`^tune`, "needs flows of all sizes: orchestrator/tune"},
	{`sweep l4s/coexist|run (field/(contenders|sharing)|ecnsharp-abq)|seeds 11`, "seconds of CPU time, however few flows: make golden runs them"},
}

// TestCommands: every command in the documentation is one, with the flags and as many
// arguments as it takes. All but those of left are run, with fewer flows and one seed
// where they simulate.
func TestCommands(t *testing.T) {
	parsed, ran := 0, 0
	readers := newShell(t, nil)
	readers.run(t, had)
	for _, name := range everyPage(t) {
		t.Run(name, func(t *testing.T) {
			p := readPage(t, name)
			var s *shell
			for _, d := range p.commands(t) {
				parsed++
				simulates := parse(t, d)
				if t.Failed() || name == hourPage || leave(d) { // TestPages runs that page as it stands
					continue
				}
				if s == nil {
					s = copyOf(t, readers, p)
				}
				ran++
				s.try(t, d, simulates)
			}
		})
	}
	some := strings.Contains(flag.Lookup("test.run").Value.String(), "/")
	if !some && (parsed < 130 || ran < 50) {
		t.Errorf("%d commands are found, and %d run", parsed, ran)
	}
}

// parse checks flags and arguments, and tells whether the command simulates.
func parse(t *testing.T, d documented) (simulates bool) {
	t.Helper()
	root, err := cli.App{}.Command()
	if err != nil {
		t.Fatal(err)
	}
	c, rest, err := root.Find(d.words)
	if err == nil {
		err = c.ParseFlags(rest)
	}
	if err == nil {
		err = c.ValidateArgs(c.Flags().Args())
	}
	if err != nil {
		t.Errorf("%v: %v", d, err)
		return false
	}
	return slices.Contains([]string{"run", "sweep", "tune"}, c.Name()) && c.HasParent() && !c.Parent().HasParent()
}

// leave tells whether the command is not to be run.
func leave(d documented) bool {
	line := strings.Join(d.words, " ")
	return slices.ContainsFunc(left, func(l struct{ command, reason string }) bool {
		return regexp.MustCompile(l.command).MatchString(line)
	})
}

// had makes what readers have already: a lab of their own, two runs and a sweep.
const had = `aqmlab lab show quickstart > mylab.yaml
aqmlab run mylab.yaml --runtime sim --flows 20
aqmlab run mylab.yaml --runtime sim --flows 20 --set schemes.tcn.threshold=100us
aqmlab sweep mylab.yaml --runtime sim --flows 20 --schemes tcn --over workload.load=0.5,0.9 --over schemes.tcn.threshold=100us,200us`

// copyOf is a shell with what another has in its folder, and the files of a page.
func copyOf(t *testing.T, other *shell, p *page) *shell {
	t.Helper()
	s := newShell(t, nil)
	s.run(t, "cp -a "+other.dir+"/. . && cp mylab.yaml mine.yaml")
	for name, text := range p.files() {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// try runs a command, in small if it simulates.
func (s *shell) try(t *testing.T, d documented, simulates bool) {
	t.Helper()
	runs, err := filepath.Glob(filepath.Join(s.dir, "results/runs/2*"))
	if err != nil || len(runs) < 2 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	names := map[string]string{"RUN": runs[0], "RUN...": runs[0], "RUN1": runs[0], "RUN2": runs[1]}
	words := slices.Clone(d.words)
	for i, w := range words {
		if names[w] != "" {
			words[i] = names[w]
		}
		if found, err := filepath.Glob(filepath.Join(s.dir, w)); err == nil && strings.Contains(w, "*") && len(found) > 0 {
			words = slices.Replace(words, i, i+1, found...)
			break
		}
	}
	if simulates {
		words = small(words)
	}
	c := exec.Command(filepath.Join(strings.Split(s.path, ":")[0], "aqmlab"), words...)
	c.Dir = s.dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v: %v\n%s", d, err, out)
	}
}

// small is the same command with modelled hosts, few flows and one seed.
func small(words []string) []string {
	for _, flag := range [][2]string{{"--runtime", "sim"}, {"--flows", "20"}, {"--seeds", "1"}} {
		switch at := slices.Index(words, flag[0]); {
		case at >= 0:
			words[at+1] = flag[1]
		default:
			words = append(words, flag[:]...)
		}
	}
	return words
}
