package netns

import (
	"fmt"
	"net"
)

// String writes the address as 02:a9:00:00:00:01.
func (m MAC) String() string { return net.HardwareAddr(m[:]).String() }

// MarshalText writes the address as String does.
func (m MAC) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (m *MAC) UnmarshalText(text []byte) error {
	addr, err := net.ParseMAC(string(text))
	if err != nil {
		return err
	}
	if len(addr) != len(m) {
		return fmt.Errorf("MAC %s: want %d bytes", text, len(m))
	}
	copy(m[:], addr)
	return nil
}
