package store

import (
	"aqmlab/results"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// fileName is what a lab or scheme name must look like to stand in a path.
func fileName(s string) bool {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+#-]*$`).MatchString(s)
}

// storable tells what keeps a manifest from being stored.
func storable(m results.Manifest) error {
	switch {
	case !fileName(m.Lab):
		return fmt.Errorf("lab name %q cannot stand in a file name: want letters, digits, and any of . _ + # -", m.Lab)
	case m.Start.IsZero():
		return errors.New("the manifest has no start time")
	case m.Baseline != "" && !slices.Contains(m.Schemes, m.Baseline):
		return fmt.Errorf("baseline %q is not one of the schemes %s", m.Baseline, strings.Join(m.Schemes, ", "))
	}
	for _, s := range m.Schemes {
		if !fileName(s) {
			return fmt.Errorf("scheme name %q cannot stand in a file name: want letters, digits, and any of . _ + # -", s)
		}
	}
	return nil
}

// folderName is the run's name: UTC time, lab, and the start of the lab's hash.
func folderName(m results.Manifest) string {
	return fmt.Sprintf("%s-%s-%.8s", m.Start.UTC().Format("20060102T150405Z"), m.Lab, m.LabHash)
}

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
