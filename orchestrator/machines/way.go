package machines

import (
	"net/http"
	"path/filepath"

	"github.com/docker/cli/cli/connhelper"
	"github.com/docker/docker/client"
)

// withTLS uses the certificates of a folder.
func withTLS(dir string) client.Opt {
	return client.WithTLSClientConfig(filepath.Join(dir, "ca.pem"), filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"))
}

// overSSH has ssh run docker on the machine. It never asks for anything: many connections
// may be opened at once, by programs that nobody looks at.
func overSSH(endpoint string) ([]client.Opt, error) {
	way, err := connhelper.GetConnectionHelperWithSSHOpts(endpoint, []string{"-o", "BatchMode=yes"})
	if err != nil {
		return nil, err
	}
	dial := telling(way.Dialer)
	return []client.Opt{
		client.WithHTTPClient(&http.Client{Transport: &http.Transport{DialContext: dial}}),
		client.WithHost(way.Host),
		client.WithDialContext(dial),
	}, nil
}
