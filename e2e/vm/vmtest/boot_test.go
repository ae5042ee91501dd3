package vmtest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aqmlab/e2e/vm"
)

// probe is a guest in virtual time that runs testdata/probe.
func probe(t *testing.T, args ...string) vm.Guest {
	t.Helper()
	if _, err := vm.Find(); err != nil {
		t.Skip(err)
	}
	t.Parallel()
	program := filepath.Join(t.TempDir(), "probe")
	Go(t, "build", "-o", program, "./testdata/probe")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("content\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return vm.Guest{
		Init: Init(t), Program: program, Args: args,
		Env:         []string{"GREETING=hello"},
		Modules:     []string{"sch_fq_pie", "sch-netem"},
		Files:       map[string]string{"/etc/deep/down": file},
		VirtualTime: true,
	}
}

// boot runs a guest, with a limit far above what it takes.
func boot(t *testing.T, g vm.Guest) (vm.Result, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	return vm.Run(ctx, g)
}

// TestProgram: what a program finds in a guest, and that its output, byte for
// byte, and its status come out. sch_fq_pie needs sch_pie, which loads first;
// /proc/modules lists the last one first.
func TestProgram(t *testing.T) {
	r, err := boot(t, probe(t, "exit"))
	if err != nil {
		t.Fatal(err)
	}
	want := `slept 1m40s
lo up true
env 1 hello
file "content\n"
module sch_netem
module sch_fq_pie
module sch_pie
` + "no newline at the end\r"
	if string(r.Output) != want {
		t.Errorf("the program wrote\n%q, want\n%q", r.Output, want)
	}
	if r.Status != 3 {
		t.Errorf("status %d, want 3", r.Status)
	}
}

// TestVirtualTimeRepeats: in virtual time the clock, to the nanosecond, and the
// kernel's randomness are the same in each run.
func TestVirtualTimeRepeats(t *testing.T) {
	g := probe(t, "repeat")
	first, err := boot(t, g)
	if err != nil {
		t.Fatal(err)
	}
	second, err := boot(t, g)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(first.Output), "random ") || string(first.Output) != string(second.Output) {
		t.Errorf("the runs print\n%s\nand\n%s", first.Output, second.Output)
	}
}

// TestKilledProgram: 128 and SIGKILL's number, as shells count.
func TestKilledProgram(t *testing.T) {
	r, err := boot(t, probe(t, "die"))
	if err != nil || r.Status != 137 {
		t.Errorf("status %d, error %v; want 137", r.Status, err)
	}
}

// TestNoProgramEnds: what goes wrong around the program is an error that says
// what did.
func TestNoProgramEnds(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("echo\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		change func(*vm.Guest)
		want   string
	}{
		{"no program", func(g *vm.Guest) { g.Program = script }, "in the guest: start the program"},
		{"no init", func(g *vm.Guest) { g.Init = script }, "Kernel panic"},
		{"no such module", func(g *vm.Guest) { g.Modules = []string{"sch_imaginary"} }, "no module sch_imaginary"},
		{"no such file", func(g *vm.Guest) { g.Files = map[string]string{"/a": "/nonexistent"} }, "/nonexistent"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := probe(t, "exit")
			tt.change(&g)
			if _, err := boot(t, g); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

// TestCancelled: the machine goes down with its context, here while it boots.
func TestCancelled(t *testing.T) {
	g := probe(t, "linger")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := vm.Run(ctx, g); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
	}
}
