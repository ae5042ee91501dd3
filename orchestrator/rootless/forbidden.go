package rootless

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// ForbiddenError says what keeps this user from having user namespaces, and what would
// let him.
type ForbiddenError struct {
	Missing string
	Remedy  string // may be empty
	Err     error  // what the kernel said
}

// Error is one line.
func (e *ForbiddenError) Error() string {
	text := fmt.Sprintf("%s (%v)", e.Missing, e.Err)
	if e.Remedy != "" {
		text += "; " + e.Remedy
	}
	return text
}

// Unwrap returns what the kernel said.
func (e *ForbiddenError) Unwrap() error { return e.Err }

// aSwitch is a sysctl that forbids user namespaces to ordinary users.
type aSwitch struct{ key, forbids, allows string }

// remedy is what root does about it.
func (s aSwitch) remedy() string { return fmt.Sprintf("as root: sysctl -w %s=%s", s.key, s.allows) }

// switches lists them. The last two are Debian's and Ubuntu's.
func switches() []aSwitch {
	return []aSwitch{
		{"user.max_user_namespaces", "0", "10000"},
		{"user.max_mnt_namespaces", "0", "10000"},
		{"user.max_net_namespaces", "0", "10000"},
		{"kernel.unprivileged_userns_clone", "0", "1"},
		{"kernel.apparmor_restrict_unprivileged_userns", "1", "0"},
	}
}

// explain turns the kernel's refusal to make namespaces into what forbids them. An error
// that is no refusal is returned as it is.
func explain(err error) error { return explainBy(os.DirFS("/proc"), err) }

func explainBy(proc fs.FS, err error) error {
	refused := func(is error) bool { return errors.Is(err, is) }
	if !slices.ContainsFunc([]error{fs.ErrPermission, unix.ENOSPC, unix.EUSERS, unix.EINVAL, errMounts}, refused) {
		return err
	}
	e := &ForbiddenError{Err: err}
	for _, s := range switches() {
		value, unread := fs.ReadFile(proc, "sys/"+strings.ReplaceAll(s.key, ".", "/"))
		if unread == nil && strings.TrimSpace(string(value)) == s.forbids {
			e.Missing, e.Remedy = fmt.Sprintf("sysctl %s=%s forbids user namespaces", s.key, s.forbids), s.remedy()
			return e
		}
	}
	status, _ := fs.ReadFile(proc, "self/status")
	switch {
	case errors.Is(err, unix.EINVAL):
		e.Missing = "this kernel has no user namespaces (CONFIG_USER_NS)"
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EUSERS):
		e.Missing, e.Remedy = "this user has all the namespaces that he may have", "see sysctl user.max_user_namespaces, user.max_mnt_namespaces and user.max_net_namespaces"
	case strings.Contains(string(status), "\nSeccomp:\t2\n"):
		e.Missing, e.Remedy = "a filter of system calls, such as a container's, forbids user namespaces", "with Docker: --security-opt seccomp=unconfined, or --privileged"
	default:
		e.Missing = "this machine lets no ordinary user have user namespaces"
	}
	return e
}

// errMounts is wrapped by the error for namespaces that were made, and of which this
// user may change nothing.
var errMounts = errors.New("no mounts in a user namespace")
