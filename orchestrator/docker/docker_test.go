package docker

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aqmlab/orchestrator/journal"
)

func isUnavailable(err error) bool { return errors.As(err, new(*UnavailableError)) }

// TestUnreachable: where no daemon answers, errors say where it was looked for
// and what to do, and what was recorded stays recorded.
func TestUnreachable(t *testing.T) {
	host := "unix://" + filepath.Join(t.TempDir(), "docker.sock")
	t.Setenv("DOCKER_HOST", host)
	_, err := Connect(t.Context(), staticFile(t))
	_, execErr := Exec(t.Context(), "aqm-0000-h1", []string{"true"}, Streams{Out: io.Discard, Err: io.Discard})
	removeErr := Remove([]journal.Entry{{Kind: journal.Container, Name: "aqm-0000-h1"}})
	for what, err := range map[string]error{"connect": err, "exec": execErr, "remove": removeErr} {
		if !isUnavailable(err) || !strings.Contains(err.Error(), host) || !strings.Contains(err.Error(), "systemctl start docker") {
			t.Errorf("%s: error %v; want the place and what to do", what, err)
		}
	}
}

// TestElsewhere: a daemon that does not run on this kernel is no use, whoever
// it is.
func TestElsewhere(t *testing.T) {
	daemon := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", "1.41")
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"KernelVersion": "2.4.20", "ServerVersion": "20.10"}`)
	}))
	defer daemon.Close()
	t.Setenv("DOCKER_HOST", "tcp://"+strings.TrimPrefix(daemon.URL, "http://"))
	_, err := Connect(t.Context(), staticFile(t))
	if !isUnavailable(err) || !strings.Contains(err.Error(), "another machine") || !strings.Contains(err.Error(), "2.4.20") {
		t.Errorf("error %v; want that the daemon is not here", err)
	}
	t.Setenv("DOCKER_HOST", "nonsense")
	if _, err := Connect(t.Context(), staticFile(t)); !isUnavailable(err) || !strings.Contains(err.Error(), "DOCKER_HOST") {
		t.Errorf("error %v; want one that names the variable", err)
	}
}

// program is an ELF file for host.Loader: with or without a program header that
// asks for an interpreter.
func program(t *testing.T, dynamic bool) string {
	t.Helper()
	// The header of a 64-bit little-endian executable for x86-64 with one program
	// header, of type PT_LOAD or PT_INTERP: elf(5).
	elf := make([]byte, 64+56)
	copy(elf, "\x7fELF\x02\x01\x01")
	elf[16], elf[18], elf[20] = 2, 62, 1               // type, machine, version
	elf[32], elf[52], elf[54], elf[56] = 64, 64, 56, 1 // where and how large headers are
	elf[64] = 1
	if dynamic {
		const loader = "/lib/loader"
		elf[64], elf[64+8], elf[64+32] = 3, byte(len(elf)), byte(len(loader)) // where and how long its name is
		elf = append(elf, loader...)
	}
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, elf, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func staticFile(t *testing.T) string { return program(t, false) }

// TestProgram: only a static binary goes into containers.
func TestProgram(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("#!/bin/sh\n# a program, but of words\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		program(t, false): "",
		program(t, true):  "CGO_ENABLED=0",
		text:              "bad magic number",
		filepath.Join(t.TempDir(), "no such file"): "no such file",
	} {
		err := (&Engine{program: path}).findProgram()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error %v, want %q", path, err, want)
		}
	}
}

// TestTar: the image holds the program, executable, and nothing else.
func TestTar(t *testing.T) {
	path := staticFile(t)
	var out bytes.Buffer
	if err := writeTar(&out, path); err != nil {
		t.Fatal(err)
	}
	r := tar.NewReader(&out)
	h, err := r.Next()
	if err != nil || h.Name != "usr/local/bin/aqmlab" || h.Mode != 0o755 || h.Uid != 0 {
		t.Fatalf("first file %+v, %v", h, err)
	}
	content, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(content, want) {
		t.Errorf("%d bytes of the program, want its %d", len(content), len(want))
	}
	if h, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("a second file %+v, %v", h, err)
	}
}

// TestAnswer: what the daemon complains about while it works is an error.
func TestAnswer(t *testing.T) {
	for answer, want := range map[string]string{
		"":                                   "",
		`{"status":"sha256:00"}`:             "",
		`{"status":"a"}{"error":"no space"}`: "no space",
		`{"status":`:                         "unexpected EOF",
	} {
		err := readAnswer(strings.NewReader(answer))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: error %v, want %q", answer, err, want)
		}
	}
}
