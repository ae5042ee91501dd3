// Command tally runs tests and says at the end what was skipped and why, and how
// many passed and failed:
//
//	go run ./e2e/tally ARGS...       go test ARGS...
//	go run ./e2e/tally -parts A,B,C  make A, make B, make C, with what each took
//	go run ./e2e/tally -skip REASON  nothing: what cannot be run here
//
// Where the environment has CI=true it fails if something was skipped that CI could
// have run, see skips.txt.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "tally:", err)
		os.Exit(1)
	}
}

// dirVar names the folder that the parts of a run leave their tallies in.
const dirVar = "AQMLAB_TALLY"

func run(args []string, out io.Writer) error {
	var t tally
	var failed error
	switch {
	case len(args) == 2 && args[0] == "-parts":
		t, failed = runParts(strings.Split(args[1], ","), out)
	case len(args) == 2 && args[0] == "-skip":
		t.skip("all of it", args[1])
	default:
		t, failed = goTest(args, out)
	}
	if dir := os.Getenv(dirVar); dir != "" {
		return errors.Join(failed, t.store(dir))
	}
	report(out, t)
	if os.Getenv("CI") == "true" {
		debian, err := isDebian()
		failed = errors.Join(failed, err, t.refuse(debian))
	}
	return failed
}

// goTest runs go test and passes on what it prints.
func goTest(args []string, out io.Writer) (t tally, err error) {
	at := 0
	if len(args) > 1 && args[0] == "-C" { // which go wants first
		at = 2
	}
	c := exec.Command("go", slices.Concat([]string{"test"}, args[:at], []string{"-json"}, args[at:])...)
	c.Stderr = os.Stderr
	pipe, err := c.StdoutPipe()
	if err != nil {
		return t, err
	}
	if err := c.Start(); err != nil {
		return t, err
	}
	r := reader{out: out, all: slices.Contains(args, "-v"), said: map[string][]string{}}
	err = r.read(pipe)
	if failed := c.Wait(); failed != nil {
		err = errors.Join(err, fmt.Errorf("go test %s: %w", strings.Join(args, " "), failed))
	}
	return r.tally, err
}

// runParts makes one target after another, also after one that failed.
func runParts(parts []string, out io.Writer) (t tally, err error) {
	dir, err := os.MkdirTemp("", "aqmlab-tally-")
	if err != nil {
		return t, err
	}
	defer os.RemoveAll(dir)
	var failed []string
	for _, part := range parts {
		fmt.Fprintf(out, "\n== make %s\n", part)
		begun := time.Now()
		c := exec.Command("make", "--no-print-directory", part)
		c.Env = append(os.Environ(), dirVar+"="+dir)
		c.Stdout, c.Stderr = out, os.Stderr
		if err := c.Run(); err != nil {
			failed = append(failed, fmt.Sprintf("make %s: %v", part, err))
		}
		t.Took = append(t.Took, took{part, time.Since(begun)})
	}
	if t, err = t.collect(dir); err == nil && len(failed) > 0 {
		err = errors.New(strings.Join(failed, ", "))
	}
	return t, err
}

// collect adds the tallies that parts have left.
func (t tally) collect(dir string) (tally, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return t, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return t, err
		}
		var part tally
		if err := json.Unmarshal(text, &part); err != nil {
			return t, fmt.Errorf("reading %s: %w", file, err)
		}
		t.add(part)
	}
	return t, nil
}

// store leaves a tally for the run that this is part of.
func (t tally) store(dir string) error {
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "*.json")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
