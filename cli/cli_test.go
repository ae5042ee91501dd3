//go:build linux

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"aqmlab/kind"
	"aqmlab/orchestrator/bench"
	"aqmlab/orchestrator/doctor"
	"aqmlab/orchestrator/host/cc"
	"aqmlab/orchestrator/testbed"
	"aqmlab/switch/port"
)

// TestExitCode: 0 done, 1 failed, 2 usage, 130 and 143 interrupted; a command that ran
// on behalf of the user gives its own and says nothing more.
func TestExitCode(t *testing.T) {
	live := context.Background()
	ended, cancel := context.WithCancel(live)
	cancel()
	terminated, terminate := context.WithCancelCause(live)
	terminate(interrupted{syscall.SIGTERM})
	failed := errors.New("failed")
	tests := []struct {
		name string
		ctx  context.Context
		err  error
		code int
		text string
	}{
		{"done", live, nil, 0, ""},
		{"done in spite of an interrupt", ended, nil, 0, ""},
		{"failed", live, failed, 1, "aqmlab: failed\n"},
		{"usage", live, usage(failed), 2, "aqmlab: failed\n"},
		{"wrapped usage", live, fmt.Errorf("loading: %w", usage(failed)), 2, "aqmlab: loading: failed\n"},
		{"joined usage", live, errors.Join(failed, usage(failed)), 2, "aqmlab: failed\nfailed\n"},
		{"interrupted", ended, failed, 130, "aqmlab: failed\n"},
		{"terminated", terminated, failed, 143, "aqmlab: failed\n"},
		{"usage, then interrupted", ended, usage(failed), 2, "aqmlab: failed\n"},
		{"the user's command", live, exitStatus(7), 7, ""},
		{"the user's command, wrapped", live, fmt.Errorf("x: %w", exitStatus(3)), 3, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var text bytes.Buffer
			if got := exitCode(tt.ctx, &text, tt.err); got != tt.code || text.String() != tt.text {
				t.Errorf("code %d, text %q; want %d, %q", got, &text, tt.code, tt.text)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	if usage(nil) != nil {
		t.Error("no error is a usage error")
	}
	cause := errors.New("cause")
	if !errors.Is(usage(cause), cause) {
		t.Error("a usage error hides its cause")
	}
}

// TestExplain: what the user named wrongly or the machine lacks is for the user
// to mend (2), all else has failed (1).
func TestExplain(t *testing.T) {
	for err, code := range map[error]int{
		nil:                        0,
		errors.New("lost a frame"): exitFailed,
		context.Canceled:           exitFailed,
		testbed.ErrNotRoot:         exitUsage,
		testbed.ErrNoLab:           exitUsage,
		testbed.ErrAmbiguous:       exitUsage,
		testbed.ErrNoHost:          exitUsage,
		kind.ErrUnknown:            exitUsage,
		exec.ErrNotFound:           exitUsage,
		&cc.UnsupportedError{}:     exitUsage,
	} {
		wrapped := err
		if err != nil {
			wrapped = fmt.Errorf("doing: %w", err)
		}
		if got := exitCode(t.Context(), &bytes.Buffer{}, explain(wrapped)); got != code {
			t.Errorf("%v: code %d, want %d", err, got, code)
		}
	}
}

// TestWrongCommandLines: the user is told what is wrong and what there is, on
// standard error alone.
func TestWrongCommandLines(t *testing.T) {
	tests := []struct {
		args string
		want []string
	}{
		{"labs", []string{`"labs"`, "lab"}},
		{"lab", []string{"list", "show", "up", "down"}},
		{"lab lst", []string{`"lst"`, "list", "show"}},
		{"scheme shwo tcn", []string{`"shwo"`, "show"}},
		{"run", []string{"run LAB"}},
		{"run a b", []string{"run LAB"}},
		{"run smoke --flow 3", []string{"--flow", "aqmlab run --help"}},
		{"run smoke --runtime cloud", []string{`"cloud"`, "auto, netns, docker, uml, sim"}},
		{"run smoke --flows 0", []string{"workload.flows", "0"}},
		{"run smoke --flows many", []string{"workload.flows", "many"}},
		{"run smoke --loads 2", []string{"workload.load", "2"}},
		{"run smoke --seeds 3..1", []string{"seeds"}},
		{"run smoke --dilation 0.5", []string{"dilation", "0.5"}},
		{"run smoke --schemes tcn,tnc", []string{`"tnc"`, "droptail"}},
		{"run smok", []string{"smok", "smoke"}},
		{"lab up smoke --scheme tnc", []string{"tnc", "tcn"}},
		{"lab down a --all", []string{"not both"}},
		{"lab down no-such-lab", []string{"no-such-lab", "no such lab"}},
		{"lab exec --lab no-such-lab h1 true", []string{"no-such-lab"}},
		{"lab exec h1", []string{"exec HOST"}},
		{"lab check /no/such/file.yaml", []string{"/no/such/file.yaml"}},
		{"scheme show tnc", []string{`"tnc"`, "tcn"}},
		{"workload show websearhc", []string{"websearch"}},
		{"compare", []string{"compare RUN"}},
		{"compare latest --window -1s", []string{"--window -1s: want a time above 0s"}},
		{"compare /no/such/run", []string{"/no/such/run"}},
		{"report /no/such/run", []string{"/no/such/run"}},
		{"serve /no/such/folder", []string{"/no/such/folder"}},
		{"serve go.mod/x y", []string{"serve [DIR]"}},
		{"serve cli_test.go", []string{"cli_test.go", "not a folder"}},
		{"serve --sweeps /no/such/folder", []string{"--sweeps", "/no/such/folder"}},
		{"serve --port 99999", []string{"99999", "--port"}},
		{"bench bringup --rounds 0", []string{"--rounds 0"}},
		{"bench datapath --rounds -1", []string{"--rounds -1"}},
		{"doctor now", []string{"now"}},
		{"machines", []string{"check"}},
		{"machines check", []string{"--machines rack.yaml"}},
		{"machines check smoke", []string{"smoke", "--machines rack.yaml"}},
		{"machines check --machines /no/such/file", []string{"/no/such/file"}},
		{"machines check smok", []string{"smok", "smoke"}},
		{"machines check smoke --for 2m", []string{"--for 2m0s", "10ms", "1m0s"}},
		{"machines check smoke --for 1", []string{"--for"}},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			out, errs := run(t, exitUsage, strings.Fields(tt.args)...)
			if out != "" {
				t.Errorf("standard output:\n%s", out)
			}
			for _, want := range tt.want {
				if !strings.Contains(errs, want) {
					t.Errorf("%q is not in %q", want, errs)
				}
			}
		})
	}
}

// commands lists all commands below c that a user sees.
func commands(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			all = append(all, commands(sub)...)
		}
	}
	return all
}

// TestEveryCommand: each says what it does in a line, and by example; each that
// prints a result prints JSON as well.
func TestEveryCommand(t *testing.T) {
	noResult := []string{"aqmlab report", "aqmlab serve", "aqmlab lab show", "aqmlab lab schema", "aqmlab lab check", "aqmlab lab export", "aqmlab lab down", "aqmlab lab exec", "aqmlab kernel build", "aqmlab kernel install", "aqmlab kernel pack", "aqmlab kernel path"}
	seen := 0
	for _, c := range commands(newRoot(Streams{}, port.Kinds{})) {
		path := c.CommandPath()
		if c.Short == "" || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: short help %q: want a line without a full stop", path, c.Short)
		}
		if c.HasSubCommands() {
			continue // says what it holds
		}
		seen++
		if !strings.Contains(c.Example, path) {
			t.Errorf("%s: its example is %q", path, c.Example)
		}
		if json := c.Flags().Lookup("json") != nil; json == slices.Contains(noResult, path) {
			t.Errorf("%s: --json is %t", path, json)
		}
	}
	if seen < 15 {
		t.Errorf("%d commands seen", seen)
	}
}

func TestHelpAndVersion(t *testing.T) {
	if out, _ := run(t, 0); !strings.Contains(out, "Usage:") || strings.Contains(out, "agent") {
		t.Errorf("help without arguments:\n%s", out)
	}
	if out, _ := run(t, 0, "--version"); !strings.HasPrefix(out, "aqmlab version ") {
		t.Errorf("version: %q", out)
	}
}

// TestDoctor: exit code 0 if labs run here, else 1, with the same findings as
// text and as JSON.
func TestDoctor(t *testing.T) {
	d := doctor.Diagnose()
	code := 0
	if !d.Ready && !d.Guest {
		code = exitFailed
	}
	text, _ := run(t, code, "doctor")
	raw, _ := run(t, code, "doctor", "--json")
	printed := decode[doctor.Diagnosis](t, raw)
	if printed.Ready != d.Ready || len(printed.Findings) != len(d.Findings) {
		t.Errorf("printed %+v, want %+v", printed, d)
	}
	for _, f := range printed.Findings {
		if !strings.Contains(text, f.Part) {
			t.Errorf("%s is not in\n%s", f.Part, text)
		}
	}
}

func TestPrintDiagnosis(t *testing.T) {
	d := doctor.Diagnosis{Findings: []doctor.Finding{
		{Part: "rights", Needed: true, Text: "none", Remedy: "use sudo"},
		{Part: "CPUs", Text: "one", Remedy: "buy another"},
		{Part: "switch", OK: true, Needed: true, Text: "fine"},
	}}
	for guest, last := range map[bool]string{false: "No lab with real hosts can run here", true: "--runtime uml"} {
		var out bytes.Buffer
		d.Guest = guest
		printDiagnosis(&out, d)
		for _, want := range []string{"MISSING  rights", "-> use sudo", "without  CPUs", "ok       switch", last} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q is not in\n%s", want, &out)
			}
		}
	}
}

func TestPrintDatapath(t *testing.T) {
	var out bytes.Buffer
	spread := func(v float64) bench.Spread { return bench.Spread{Median: v, Min: v / 2, Max: 2 * v} }
	err := printDatapath(&out, bench.Datapath{
		Rounds: 1, BridgeGbps: spread(8), SwitchGbps: spread(4), BridgeRTT: spread(20), SwitchRTT: spread(50), LatenessP99: spread(12.34),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1 round\n", "8.00", "4.00", "16.00", "12.3", "0.50 of the goodput, 2.5 times the idle RTT"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
}

func TestPlural(t *testing.T) {
	for n, want := range map[int]string{0: "0 hosts", 1: "1 host", 2: "2 hosts"} {
		if got := plural(n, "host"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

// TestTerminal: a file is none, nor is anything that is no file.
func TestTerminal(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if isTerminal(f) || isTerminal(&bytes.Buffer{}) {
		t.Error("taken for a terminal")
	}
}
