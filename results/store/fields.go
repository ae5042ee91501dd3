package store

import (
	"aqmlab/results"
	"fmt"
)

// field is something that manifests hold and in which runs may differ.
type field struct {
	Name    string
	Of      func(results.Manifest) string
	Matters bool // points that differ in it are not of one run
}

func Fields() []field {
	return []field{
		{"aqmlab version", func(m results.Manifest) string { return m.Version }, true},
		{"git revision", func(m results.Manifest) string { return m.GitRevision }, true},
		{"lab", func(m results.Manifest) string { return m.Lab }, true},
		{"runtime", func(m results.Manifest) string { return m.Runtime }, true},
		{"dilation", func(m results.Manifest) string { return fmt.Sprint(m.Dilation) }, false},
		{"kernel", func(m results.Manifest) string { return m.Host.Kernel }, false}, // see unlike
		{"cpu", func(m results.Manifest) string { return m.Host.CPU }, false},
		{"cores", func(m results.Manifest) string { return fmt.Sprint(m.Host.Cores) }, false},
		{"transport", func(m results.Manifest) string { return m.Transport.Name }, true},
		{"transport provider", func(m results.Manifest) string { return m.Transport.Provider }, true},
		{"rtt by", func(m results.Manifest) string { return m.RTTBy }, true},
		{"schemes", func(m results.Manifest) string { return results.Join(m.Schemes) }, false},
		{"loads", func(m results.Manifest) string { return results.Join(m.Loads) }, false},
		{"seeds", func(m results.Manifest) string { return results.Join(m.Seeds) }, false},
	}
}
