package machines

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/cli/cli/context/store"
	"github.com/docker/docker/client"

	"aqmlab/kind"
	"aqmlab/labs/inventory"
)

const (
	// usualContext is the context that the docker command uses where none was chosen.
	usualContext = "default"

	// daemonKey is the one of a context's endpoints that is a Docker daemon.
	daemonKey = "docker"
)

// daemonOf is what a context says of its daemon. The docker command has a type for this,
// but in a package that brings a second client of Docker's API.
type daemonOf struct {
	Host          string
	SkipTLSVerify bool
}

// ofContext looks a context up where the docker command keeps them.
func ofContext(name string) (endpoint string, opts []client.Opt, err error) {
	if name == usualContext {
		if host := os.Getenv(client.EnvOverrideHost); overShell(host) {
			opts, err = overSSH(host)
			return host, opts, err
		}
		return name, []client.Opt{client.FromEnv}, nil
	}
	all, err := contextStore()
	if err != nil {
		return name, nil, err
	}
	found, err := all.GetMetadata(name)
	if errdefs.IsNotFound(err) {
		names, _ := store.Names(all) // for the message alone
		return name, nil, kind.Unknown("Docker context", name, append([]string{usualContext}, names...))
	}
	if err != nil {
		return name, nil, fmt.Errorf("reading Docker context %s: %w", name, err)
	}
	daemon, ok := found.Endpoints[daemonKey].(daemonOf)
	switch {
	case !ok || daemon.Host == "":
		return name, nil, errors.New("the Docker context names no Docker daemon")
	case overShell(daemon.Host):
		opts, err = overSSH(daemon.Host)
		return daemon.Host, opts, err
	case daemon.SkipTLSVerify:
		return name, nil, errors.New("the Docker context takes any certificate (skip-tls-verify), aqmlab takes none that it cannot check")
	}
	opts = []client.Opt{client.WithHost(daemon.Host)}
	files, err := all.ListTLSFiles(name)
	if len(files[daemonKey]) > 0 {
		opts = append(opts, withTLS(filepath.Join(all.GetStorageInfo(name).TLSPath, daemonKey)))
	}
	return daemon.Host, opts, err
}

func overShell(endpoint string) bool { return strings.HasPrefix(endpoint, inventory.SSH+"://") }

// contextStore is where the docker command keeps contexts.
func contextStore() (*store.ContextStore, error) {
	dir := os.Getenv("DOCKER_CONFIG")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, fmt.Errorf("finding the Docker contexts: %w", err)
		}
		dir = filepath.Join(home, ".docker")
	}
	return store.New(filepath.Join(dir, "contexts"), store.NewConfig(
		func() any { return &map[string]any{} },
		store.EndpointTypeGetter(daemonKey, func() any { return &daemonOf{} }),
	)), nil
}
