package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// changeLock is locked by who changes a lab that stays.
const changeLock = "changing"

// Amend changes the description of a lab that stays to what change makes of it. One
// process at a time does so; it waits for others until ctx ends. Meanwhile the lab is
// listed and used as ever. When change fails, the description stays as it is. The error
// wraps [fs.ErrNotExist] when there is no such lab, or it is removed meanwhile.
func Amend(ctx context.Context, root, id string, change func(info json.RawMessage) (any, error)) (err error) {
	if !isID(id) {
		return fmt.Errorf("change lab %q: %w", id, fs.ErrNotExist)
	}
	dir := filepath.Join(root, id)
	if err := ownFolder(dir); err != nil {
		return fmt.Errorf("change lab %s: %w", id, err)
	}
	lock, err := openOwn(filepath.Join(dir, changeLock), os.O_CREATE)
	if err != nil {
		return fmt.Errorf("change lab %s: %w", id, err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := await(ctx, lock); err != nil {
		return fmt.Errorf("change lab %s: %w", id, err)
	}
	before, err := readAbout(dir)
	if err != nil {
		return fmt.Errorf("change lab %s: %w", id, err)
	}
	info, err := change(before.Info)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(info)
	if err != nil {
		return fmt.Errorf("describe lab %s: %w", id, err)
	}
	before.Info = raw
	j := &Journal{id: id, root: root, about: before}
	// Under the root's lock, so that nothing is written into a folder that is half gone.
	if err := withRoot(ctx, root, j.writeAbout); err != nil {
		return fmt.Errorf("describe lab %s: %w", id, err)
	}
	return nil
}
