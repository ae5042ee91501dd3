package labs

import (
	"fmt"

	"github.com/distribution/reference"

	"aqmlab/units"
)

// Docker is the runtime whose hosts are containers.
const Docker = "docker"

// Container is what a host is made of where hosts are containers. The zero
// Container is aqmlab's own image without limits.
type Container struct {
	Image  string     // reference of the image, as Docker writes it; empty: aqmlab's own
	CPUs   float64    // most CPU time over wall time; zero: no limit
	Memory units.Size // most memory, with the kernel's for its sockets; zero: no limit
}

const (
	imagePath  = "host.image"
	cpusPath   = "host.cpus"
	memoryPath = "host.memory"
)

// The least that the process in a container can do with, and more than any
// machine has.
const (
	leastCPUs, mostCPUs     = 0.01, 1024
	leastMemory, mostMemory = 64 * units.MB, 1e6 * units.MB
)

// containerKeys are those of hosts that are containers.
func containerKeys(c *Container) []key {
	within := func(n float64) bool { return n >= leastCPUs && n <= mostCPUs }
	cpus := func(dst *float64) codec { return number(dst, within, fmt.Sprintf("[%v, %v]", leastCPUs, mostCPUs)) }
	memory := quantity[units.Size]{units.ParseSize, units.Size.String, "a size such as 256MB", leastMemory, mostMemory}
	return []key{
		{imagePath, optional(&c.Image, image)},
		{cpusPath, optional(&c.CPUs, cpus)},
		{memoryPath, optional(&c.Memory, memory.codec)},
	}
}

// image is the reference of an image.
func image(dst *string) codec {
	return codec{func(value any) error {
		s, ok := asString(value)
		if !ok {
			return fmt.Errorf("%s is not text: want an image such as debian:12", show(value))
		}
		if _, err := reference.ParseNormalizedNamed(s); err != nil {
			return fmt.Errorf("%s is not an image, such as debian:12: %w", show(value), err)
		}
		*dst = s
		return nil
	}, func() any { return *dst }}
}

// unused lists the keys that are set and that only containers follow.
func (c Container) unused() []string {
	var keys []string
	for _, k := range containerKeys(&c) {
		if k.write() != nil {
			keys = append(keys, k.path)
		}
	}
	return keys
}
