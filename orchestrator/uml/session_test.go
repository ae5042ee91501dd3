package uml

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aqmlab/orchestrator/host"
)

// TestOpen: a session has a copy of this program, with what it needs, and leaves
// nothing.
func TestOpen(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s, err := Open(Kernel{})
	if err != nil {
		t.Fatal(err)
	}
	copied, err := os.Stat(filepath.Join(s.folder.path, programName))
	self, serr := os.Stat(self)
	if err != nil || serr != nil || copied.Size() != self.Size() || copied.Mode()&0o111 == 0 {
		t.Errorf("the copy: %v, %v, %v", copied, err, serr)
	}
	root := s.nextRoot()
	if err := s.fill(root, Guest{}); err != nil {
		t.Error(err)
	}
	for _, file := range s.files {
		if _, err := os.Stat(filepath.Join(root, file)); err != nil {
			t.Error(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestOwnFiles: the files of a program, static or dynamic, are all that it needs to
// run in a folder that has nothing else.
func TestOwnFiles(t *testing.T) {
	if os.Getenv("AQMLAB_TEST_ALONE") != "" {
		return // it runs
	}
	files, err := ownFiles()
	if err != nil {
		t.Fatal(err)
	}
	loader, err := host.Loader(self)
	if err != nil || (loader == "") != (len(files) == 1) {
		t.Errorf("loader %q, %v, and the files %v", loader, err, files)
	}
	dir := t.TempDir()
	if err := copyFiles(dir, files); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(filepath.Join(dir, programName), "-test.run=^TestOwnFiles$")
	if loader != "" {
		c = exec.Command(filepath.Join(dir, loader), "--inhibit-cache", "--library-path", filepath.Join(dir, libraryDir), c.Path, c.Args[1])
	}
	c.Env = []string{"AQMLAB_TEST_ALONE=1"}
	if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
		t.Errorf("alone: %v\n%s", err, out)
	}
}

// TestMappedCode: only files with code count, each by the whole of its path.
func TestMappedCode(t *testing.T) {
	const maps = `00400000-0040b000 r--p 00000000 fe:00 1 /usr/bin/a program
0040b000-0050b000 r-xp 0000b000 fe:00 1 /usr/bin/a program
7f0000000000-7f0000001000 r--p 00000000 fe:00 2 /usr/lib/locale
7f0000002000-7f0000003000 r-xp 00000000 fe:00 3 /usr/lib/libc.so.6 (deleted)
7f0000004000-7f0000005000 rwxp 00000000 00:00 0 
7fff00000000-7fff00001000 r-xp 00000000 00:00 0 [vdso]
`
	if got, want := mappedCode(maps), []string{"/usr/bin/a program", "/usr/lib/libc.so.6 (deleted)"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
