package netns_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fsnotify/fsnotify"

	"aqmlab/orchestrator/journal"
	"aqmlab/orchestrator/netns"
)

// manyHosts is enough of them that Up is still busy when somebody who sees a
// namespace come acts on it.
const manyHosts = 40

// onNamespace calls f, on a goroutine that ends with the test, when the named
// namespace appears.
func onNamespace(t *testing.T, name string, f func()) {
	t.Helper()
	if err := os.MkdirAll("/run/netns", 0o755); err != nil {
		t.Fatal(err)
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Add("/run/netns"); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range w.Events {
			if filepath.Base(event.Name) == name && event.Has(fsnotify.Create) {
				f()
			}
		}
	}()
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		<-done
	})
}

func TestCancelledUpLeavesNothing(t *testing.T) {
	needRoot(t)
	for _, at := range []string{"", "sw", "h1", "h12"} {
		t.Run("at "+at, func(t *testing.T) {
			j := create(t, t.TempDir())
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			why := errors.New("had enough")
			if at == "" {
				cancel(why)
			} else {
				onNamespace(t, "aqm-"+j.ID()+"-"+at, func() { cancel(why) })
			}
			_, err := netns.Up(ctx, j, plan(manyHosts))
			if !errors.Is(err, why) || strings.Count(err.Error(), why.Error()) != 1 {
				t.Errorf("up: %v, want %v, once", err, why)
			}
			if left := leftOf(t, j.ID()); len(left) != 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// owner is a process that brings up a lab below root once its stdin ends, and
// then stays for ever.
func owner(root string) int {
	j, err := journal.Create(context.Background(), root, nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(j.ID())
	_, _ = os.Stdin.Read(make([]byte, 1))
	if _, err := netns.Up(context.Background(), j, plan(manyHosts)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("up")
	select {}
}

func TestKilledOwnerIsSweptUp(t *testing.T) {
	needRoot(t)
	for _, at := range []string{"create", "sw", "h1", "h20", "up"} {
		t.Run("at "+at, func(t *testing.T) {
			root := t.TempDir()
			id := killOwnerAt(t, root, at)
			swept, err := journal.Sweep(root, undoers())
			if err != nil || !slices.Equal(swept, []string{id}) {
				t.Errorf("swept %v, %v; want %s", swept, err, id)
			}
			if left := leftOf(t, id); len(left) != 0 {
				t.Errorf("namespaces left: %v", left)
			}
			if labs, err := journal.List(root); err != nil || len(labs) != 0 {
				t.Errorf("labs left: %v, %v", labs, err)
			}
		})
	}
}

// killOwnerAt starts an owner, kills it with no chance to clean up when it has
// come to the given point, and returns its lab's id. While the owner lives, its
// lab must not be swept.
func killOwnerAt(t *testing.T, root, at string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "owner", root)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := func() { _ = cmd.Process.Kill() } // it may be dead already
	lines := bufio.NewScanner(out)
	lines.Scan()
	id := lines.Text()
	t.Cleanup(func() {
		kill()
		_, _ = journal.Sweep(root, undoers())
	})
	if swept, err := journal.Sweep(root, undoers()); err != nil || len(swept) != 0 {
		t.Errorf("swept %v, %v while the owner is alive", swept, err)
	}
	if at == "create" {
		kill()
	}
	onNamespace(t, "aqm-"+id+"-"+at, kill)
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if came := lines.Scan(); came != (at == "up") {
		t.Errorf("owner came up: %t, with a kill at %s", came, at)
	}
	kill()
	_ = cmd.Wait() // says that it was killed
	return id
}
