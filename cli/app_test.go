package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aqmlab/kind"
	"aqmlab/switch/aqm"
	"aqmlab/switch/sched"
)

// rows is what a program adds to the tables: rows of ours under other names.
func rows(scheme, scheduler string) App {
	return App{
		Schemes: []aqm.Kind{kind.Row(scheme, "an added scheme", struct{}{}, func(_ struct{}, env aqm.Env) (aqm.Scheme, error) {
			return aqm.Table().New("droptail", nil, env)
		})},
		Schedulers: []sched.Kind{kind.Row(scheduler, "an added scheduler", struct{}{}, func(_ struct{}, env sched.Env) (sched.Scheduler, error) {
			return sched.Table().New("dwrr", nil, env)
		})},
	}
}

// runApp runs the command line of a program and returns what it printed.
func runApp(a App, args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	code = a.Main(args, Streams{Out: &o, Err: &e})
	return code, o.String(), e.String()
}

// TestAppLists: list and show have the added rows beside ours.
func TestAppLists(t *testing.T) {
	a := rows("mine", "ours")
	for command, name := range map[string]string{"scheme": "mine", "scheduler": "ours"} {
		ours, _ := run(t, 0, command, "list", "--json")
		_, raw, _ := runApp(a, command, "list", "--json")
		isAdded := func(e kind.Entry) bool { return e.Name == name }
		listed := decode[[]kind.Entry](t, raw)
		if n := len(decode[[]kind.Entry](t, ours)); len(listed) != n+1 || !slices.ContainsFunc(listed, isAdded) {
			t.Errorf("%s list: %v", command, listed)
		}
		if code, out, _ := runApp(a, command, "show", name); code != 0 || !strings.HasPrefix(out, name+": an added "+command+"\n") {
			t.Errorf("%s show %s: exit code %d\n%s", command, name, code, out)
		}
		if code, _, errs := runApp(a, command, "show", name+"x"); code != exitUsage || !strings.Contains(errs, "did you mean "+name+"?") {
			t.Errorf("%s show %sx: exit code %d, %s", command, name, code, errs)
		}
	}
}

// TestAppChecksLabs: labs may name the added rows, in every command that reads
// one.
func TestAppChecksLabs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.yaml")
	text := "{topology: {rate: 1Gbps}, schemes: [{name: a, aqm: mine}], switch: {scheduler: {kind: ours, queues: 2}}}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"check", "show"} {
		if code, _, errs := runApp(rows("mine", "ours"), "lab", command, file); code != 0 {
			t.Errorf("lab %s: exit code %d, %s", command, code, errs)
		}
		if code, _, errs := runApp(App{}, "lab", command, file); code != exitUsage || !strings.Contains(errs, `unknown kind "mine"`) {
			t.Errorf("lab %s without the rows: exit code %d, %s", command, code, errs)
		}
	}
}

// TestAppSchema: the JSON Schema of lab files has the added rows, and lab show
// tells editors where it is.
func TestAppSchema(t *testing.T) {
	code, out, errs := runApp(rows("mine", "ours"), "lab", "schema")
	if !json.Valid([]byte(out)) || !strings.Contains(out, `"const": "mine"`) || !strings.Contains(out, `"const": "ours"`) {
		t.Errorf("exit code %d, %s\n%s", code, errs, out)
	}
	if _, out, _ := runApp(App{}, "lab", "schema"); strings.Contains(out, "mine") {
		t.Error("the rows are in the schema of a program without them")
	}
	for want, flags := range map[string][]string{"aqmlab.schema.json": nil, "/etc/lab.json": {"--schema", "/etc/lab.json"}} {
		shown, _ := run(t, 0, append([]string{"lab", "show", "smoke"}, flags...)...)
		if first, _, _ := strings.Cut(shown, "\n"); first != "# yaml-language-server: $schema="+want {
			t.Errorf("%q: the first line is %q", flags, first)
		}
	}
}

// TestAppRefusesTwins: with two rows of one name no command runs.
func TestAppRefusesTwins(t *testing.T) {
	for want, a := range map[string]App{
		`aqmlab: adding scheme "tcn": there is one of that name already` + "\n":     rows("tcn", "ours"),
		`aqmlab: adding scheduler "fifo": there is one of that name already` + "\n": rows("mine", "fifo"),
	} {
		if code, out, errs := runApp(a, "lab", "list"); code != exitFailed || out != "" || errs != want {
			t.Errorf("exit code %d, stdout %q, stderr %q; want %d, stderr %q", code, out, errs, exitFailed, want)
		}
	}
}
