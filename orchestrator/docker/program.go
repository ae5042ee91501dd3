package docker

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"aqmlab/orchestrator/host"
)

// findProgram settles on the program and makes sure that it runs in any
// container.
func (e *Engine) findProgram() error {
	if e.program == "" {
		var err error
		if e.program, err = os.Executable(); err != nil {
			return fmt.Errorf("find this program: %w", err)
		}
	}
	static, err := host.Static(e.program)
	if err != nil {
		return fmt.Errorf("look at the program for containers: %w", err)
	}
	if !static {
		return &UnavailableError{
			Missing: e.program + " is not a static binary, so it runs in no container",
			Remedy:  "build it with CGO_ENABLED=0 (make build does)",
		}
	}
	return nil
}

// hash is the first twelve hexadecimal digits of a file's SHA-256.
func hash(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)[:6]), nil
}
