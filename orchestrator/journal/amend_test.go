package journal

import (
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"testing"
)

// TestAmend: several who change a lab that stays do so one after another, and none of
// them keeps others from listing it as it is. A change that fails leaves it as it was.
func TestAmend(t *testing.T) {
	root := t.TempDir()
	j, err := Create(t.Context(), root, 0)
	if err != nil {
		t.Fatal(err)
	}
	id := j.ID()
	if err := j.Detach(); err != nil {
		t.Fatal(err)
	}
	add := func(raw json.RawMessage) (any, error) {
		if all, err := List(root); err != nil || len(all) != 1 || all[0].State != Detached {
			t.Errorf("meanwhile it is listed as %+v, %v", all, err)
		}
		var n int
		err := json.Unmarshal(raw, &n)
		return n + 1, err
	}
	var at sync.WaitGroup
	for range 8 {
		at.Go(func() {
			if err := Amend(t.Context(), root, id, add); err != nil {
				t.Error(err)
			}
		})
	}
	at.Wait()
	failed := errors.New("failed")
	if err := Amend(t.Context(), root, id, func(json.RawMessage) (any, error) { return 99, failed }); !errors.Is(err, failed) {
		t.Errorf("error %v", err)
	}
	all, err := List(root)
	if err != nil || len(all) != 1 || strings.TrimSpace(string(all[0].Info)) != "8" || all[0].Created.IsZero() {
		t.Errorf("listed %+v, %v, want 8", all, err)
	}
	for _, none := range []string{"ffff", "../x"} {
		if err := Amend(t.Context(), root, none, add); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", none, err)
		}
	}
}
