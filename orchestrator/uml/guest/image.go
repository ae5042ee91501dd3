package guest

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ImageLink is the link in a guest's root folder to the folder of the host that [Image]
// shows.
const ImageLink = "machine"

// Where the guest has it.
const (
	imageBelow = "/run/machine" // as it is, read-only
	imageLayer = "/run/layer"   // what is written, in the guest's memory
	imageRoot  = "/run/image"   // both together
)

// OwnFolders are those that programs see of the guest, and not of the host.
func OwnFolders() []string { return []string{"/proc", "/sys", "/dev", "/tmp", "/run"} }

// Image mounts a folder of the host, read-only, below a layer in the guest's memory that
// takes what is written, with [OwnFolders] in it. It returns the root of all that, for
// programs to have as theirs.
func Image() (root string, err error) {
	upper, work := filepath.Join(imageLayer, "upper"), filepath.Join(imageLayer, "work")
	for _, dir := range []string{imageBelow, upper, work, imageRoot} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
	}
	layers := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", imageBelow, upper, work)
	for _, m := range []struct {
		kind, at, options string
		flags             uintptr
	}{
		{"hostfs", imageBelow, "/" + ImageLink, unix.MS_RDONLY},
		{"overlay", imageRoot, layers, 0},
		{"proc", imageRoot + "/proc", "", 0},
		{"sysfs", imageRoot + "/sys", "", 0},
		{"devtmpfs", imageRoot + "/dev", "", 0},
		{"devpts", imageRoot + "/dev/pts", "mode=620,ptmxmode=666", 0},
		{"tmpfs", imageRoot + "/dev/shm", "mode=1777", 0},
		{"tmpfs", imageRoot + "/tmp", "mode=1777", 0},
		{"tmpfs", imageRoot + "/run", "mode=755", 0},
	} {
		if err := os.MkdirAll(m.at, 0o755); err != nil {
			return "", err
		}
		if err := unix.Mount(m.kind, m.at, m.kind, m.flags, m.options); err != nil {
			return "", fmt.Errorf("mounting %s at %s: %w", m.kind, m.at, err)
		}
	}
	return imageRoot, nil
}
