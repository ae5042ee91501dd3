package uml

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// BuildOptions say how a guest kernel is built.
type BuildOptions struct {
	Version string       // of Linux, one of [Versions]; empty: the first
	Source  string       // tree or archive of Linux; empty: the package linux-source-*
	Cache   string       // folder of the kernels; empty: the user's own
	Jobs    int          // compilers at once; zero: one a CPU
	Say     func(string) // is told of each step
	// Try tests the kernel before it takes the place of the one before, which stays
	// if there is an error. Nil: it is not tested.
	Try func(context.Context, Kernel) error
}

// Build makes a guest kernel and puts it into the cache in place of the one of its
// version before. The source is copied, changed ([edits]) and compiled in a folder that
// goes when it returns, or soon after an interrupt, with the lowest priority. It
// takes 1.5 GB of disk and some minutes. Errors wrap [ErrUnavailable] when something
// must be installed first, and hold the compiler's last lines when it fails.
func Build(ctx context.Context, o BuildOptions) (Kernel, error) {
	k, err := build(ctx, o)
	if err != nil && !errors.Is(err, ErrUnavailable) {
		return Kernel{}, fmt.Errorf("building the guest kernel: %w", err)
	}
	return k, err
}

func build(ctx context.Context, o BuildOptions) (k Kernel, err error) {
	v, err := versionOf(o.Version)
	if err != nil {
		return Kernel{}, err
	}
	if err := runsHere(); err != nil {
		return Kernel{}, err
	}
	if err := checkTools(lookPath, compiles); err != nil {
		return Kernel{}, err
	}
	if _, err := ownFiles(); err != nil { // before minutes of compiling: the test would fail
		return Kernel{}, err
	}
	if o.Source == "" {
		if o.Source, err = v.findSource(debianSource); err != nil {
			return Kernel{}, err
		}
	}
	if o.Cache, err = cacheDir(o.Cache); err != nil {
		return Kernel{}, err
	}
	f, err := newFolder(ctx, o.Cache, "build")
	if err != nil {
		return Kernel{}, err
	}
	defer func() {
		if ctx.Err() != nil {
			o.Say("removing " + f.path + ": that may go on for some seconds")
		}
		err = errors.Join(err, f.remove(ctx))
	}()
	o.Say("unpacking " + o.Source)
	tree, err := unpack(ctx, o.Source, f.path)
	if err != nil {
		return Kernel{}, err
	}
	if err := v.is(tree); err != nil {
		return Kernel{}, err
	}
	if err := o.compile(ctx, tree, v); err != nil {
		return Kernel{}, err
	}
	return o.install(ctx, tree, v)
}

// runsHere tells whether guests run on machines of this kind.
func runsHere() error {
	if runtime.GOARCH != "amd64" {
		return fmt.Errorf("%w: User-Mode Linux runs on amd64 only", ErrUnavailable)
	}
	return nil
}

// compile configures and compiles a tree of a version.
func (o BuildOptions) compile(ctx context.Context, tree string, v version) error {
	if err := v.applyEditsNoted(ctx, tree); err != nil {
		return err
	}
	const wanted = "aqmlab.config"
	if err := os.WriteFile(filepath.Join(tree, wanted), []byte(allConfig()), 0o644); err != nil {
		return err
	}
	if err := runMake(ctx, tree, "KCONFIG_ALLCONFIG="+wanted, "allnoconfig"); err != nil {
		return err
	}
	config, err := os.ReadFile(filepath.Join(tree, ".config"))
	if err != nil {
		return err
	}
	if off := v.missing(string(config)); len(off) > 0 {
		return fmt.Errorf("this kernel does not know, or cannot have, %s", strings.Join(off, ", "))
	}
	jobs := o.Jobs
	if jobs == 0 {
		jobs = runtime.NumCPU()
	}
	o.Say(fmt.Sprintf("compiling, %d at once: some minutes", jobs))
	if err := runMake(ctx, tree, "-j"+strconv.Itoa(jobs), "linux"); err != nil {
		return err
	}
	return keep(tree)
}

// When, by whom and where the kernel says that it was built.
const (
	buildDate = "2026-01-01"
	builder   = "aqmlab"
)

// runMake runs make in a tree. The build must not depend on when, by whom and
// where it is done.
func runMake(ctx context.Context, tree string, args ...string) error {
	common := []string{"-n", "19", "make", "ARCH=um", "KBUILD_BUILD_TIMESTAMP=" + buildDate, "KBUILD_BUILD_USER=" + builder, "KBUILD_BUILD_HOST=" + builder}
	c := exec.CommandContext(ctx, "nice", append(common, args...)...)
	c.Dir = tree
	if out, err := runQuietly(c); err != nil {
		return fmt.Errorf("make %s: %w\n%s", args[len(args)-1], cause(ctx, err), lastLines(out))
	}
	return nil
}

// install puts the kernel of a compiled tree, without its symbols, into the
// cache, if it passes the test.
func (o BuildOptions) install(ctx context.Context, tree string, v version) (Kernel, error) {
	k := Kernel{
		Path:    filepath.Join(tree, imageName),
		Version: v.name,
		Source:  o.Source,
		Recipe:  v.recipe(),
		Built:   time.Now().UTC().Truncate(time.Second),
	}
	if out, err := runQuietly(exec.Command("strip", k.Path)); err != nil {
		return Kernel{}, fmt.Errorf("strip: %w\n%s", err, lastLines(out))
	}
	var err error
	if k.Release, err = k.release(); err != nil {
		return Kernel{}, err
	}
	if k.Sum, err = sumOf(k.Path); err != nil {
		return Kernel{}, err
	}
	if st, err := os.Stat(o.Source); err == nil && st.Mode().IsRegular() {
		if k.SourceSum, err = sumOf(o.Source); err != nil {
			return Kernel{}, err
		}
	}
	if out, err := exec.Command("gcc", "--version").Output(); err == nil {
		k.Compiler, _, _ = strings.Cut(string(out), "\n")
	}
	k.Library = packageVersion("libc6-dev")
	return v.storeTried(ctx, o.Cache, k, o.Try)
}

// packageVersion is that of an installed package of Debian, and "" where there is none.
func packageVersion(name string) string {
	out, err := exec.Command("dpkg-query", "-W", "-f", "${Version}", name).Output()
	if err != nil {
		return ""
	}
	return string(out)
}

// tool is a program that building a kernel takes.
type tool struct{ program, pack string } // and the package of Debian and Ubuntu that has it

var tools = [...]tool{
	{"make", "make"}, {"gcc", "gcc"}, {"ld", "binutils"}, {"flex", "flex"}, {"bison", "bison"}, {"bc", "bc"},
	{"perl", "perl"}, {"tar", "tar"}, {"xz", "xz-utils"}, {"nice", "coreutils"}, {"strip", "binutils"},
	{"diff", "diffutils"},
}

// cHeader is a file that only the C library's development package brings, as it does
// the library that programs are linked with statically.
const cHeader = "sys/ptrace.h"

// checkTools names all that is missing, and how to get it.
func checkTools(look func(program string) error, header func(name string) error) error {
	var lack, packs []string
	need := func(name, pack string) {
		lack = append(lack, name)
		if !slices.Contains(packs, pack) {
			packs = append(packs, pack)
		}
	}
	for _, t := range tools {
		if look(t.program) != nil {
			need(t.program, t.pack)
		}
	}
	if len(lack) == 0 && header(cHeader) != nil { // it is gcc that looks for it
		need(cHeader, "libc6-dev")
	}
	if len(lack) == 0 {
		return nil
	}
	return fmt.Errorf("%w can be built without %s: apt-get install %s", ErrUnavailable, strings.Join(lack, ", "), strings.Join(packs, " "))
}

func lookPath(program string) error {
	_, err := exec.LookPath(program)
	return err
}

// compiles tells whether the compiler finds a header, and a library to link statically.
func compiles(header string) error {
	c := exec.Command("gcc", "-static", "-x", "c", "-o", os.DevNull, "-")
	c.Stdin = strings.NewReader("#include <" + header + ">\nint main(void) { return 0; }\n")
	return c.Run()
}
