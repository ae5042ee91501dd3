package cc

import (
	"testing"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
)

// marker is a BPF program where packets arrive. It looks at data packets only,
// and marks every nth ECN-capable one, evenly spread, or drops some.
type marker struct{ state *ebpf.Map }

// markerState is shared with the program.
type markerState struct {
	Fraction uint64 // to mark, of markAll
	Credit   uint64 // a packet is marked when this reaches markAll
	Drop     uint64 // data packets still to be dropped
	NotECT   uint64 // data packets seen that were not ECN-capable
	ECT      uint64 // ECN-capable data packets that were not dropped
	CE       uint64 // those of them that were marked
}

const (
	markAll = 1 << 16
	// ethernetHeader is what precedes the IP header on a veth.
	ethernetHeader = 14
	// longestBare is Ethernet, IP and TCP with all options: longer packets
	// carry data.
	longestBare = ethernetHeader + 20 + 60
)

func newMarker(t *testing.T, at namespace) *marker {
	t.Helper()
	state, err := ebpf.NewMap(&ebpf.MapSpec{
		Type: ebpf.Array, KeySize: 4, ValueSize: uint32(unsafe.Sizeof(markerState{})), MaxEntries: 1,
	})
	must(t, err)
	t.Cleanup(func() { must(t, state.Close()) })
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Type: ebpf.SchedCLS, License: "GPL", Instructions: markerProgram(state),
	})
	must(t, err)
	t.Cleanup(func() { must(t, program.Close()) })
	at.do(t, func() error {
		l, err := link.AttachTCX(link.TCXOptions{
			Interface: at.link.Attrs().Index, Program: program, Attach: ebpf.AttachTCXIngress,
		})
		if err != nil {
			return err
		}
		t.Cleanup(func() { must(t, l.Close()) })
		return nil
	})
	return &marker{state: state}
}

func (m *marker) get(t *testing.T) (s markerState) {
	t.Helper()
	must(t, m.state.Lookup(uint32(0), &s))
	return s
}

// set starts over, with empty counters.
func (m *marker) set(t *testing.T, s markerState) {
	t.Helper()
	must(t, m.state.Put(uint32(0), &s))
}

// Fields of struct __sk_buff, and verdicts.
const (
	skbLen = 0
	pass   = 0
	drop   = 2
)

func markerProgram(state *ebpf.Map) asm.Instructions {
	var s markerState
	fraction, credit := int16(unsafe.Offsetof(s.Fraction)), int16(unsafe.Offsetof(s.Credit))
	drops, notECT := int16(unsafe.Offsetof(s.Drop)), int16(unsafe.Offsetof(s.NotECT))
	ect, ce := int16(unsafe.Offsetof(s.ECT)), int16(unsafe.Offsetof(s.CE))
	program := asm.Instructions{
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.LoadMem(asm.R2, asm.R6, skbLen, asm.Word),
		asm.JLE.Imm(asm.R2, longestBare, "pass"),
		// The ECN field is the low two bits of the second byte of the header.
		asm.Mov.Imm(asm.R2, ethernetHeader+1),
		asm.Mov.Reg(asm.R3, asm.RFP),
		asm.Add.Imm(asm.R3, -8),
		asm.Mov.Imm(asm.R4, 1),
		asm.FnSkbLoadBytes.Call(),
		asm.JNE.Imm(asm.R0, 0, "pass"),
		asm.LoadMem(asm.R7, asm.RFP, -8, asm.Byte),
		asm.And.Imm(asm.R7, 3),
		asm.StoreImm(asm.RFP, -4, 0, asm.Word),
		asm.LoadMapPtr(asm.R1, state.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, -4),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "pass"),
		asm.Mov.Reg(asm.R8, asm.R0),
	}
	program = append(program, dropSome(drops)...)
	program = append(program, asm.JNE.Imm(asm.R7, 0, "ect").WithSymbol("kept"))
	program = append(program, increment(notECT)...)
	program = append(program, asm.Ja.Label("pass"))
	program = append(program, label("ect", increment(ect))...)
	program = append(program,
		asm.LoadMem(asm.R1, asm.R8, credit, asm.DWord),
		asm.LoadMem(asm.R2, asm.R8, fraction, asm.DWord),
		asm.Add.Reg(asm.R1, asm.R2),
		asm.StoreMem(asm.R8, credit, asm.R1, asm.DWord),
		asm.JLT.Imm(asm.R1, markAll, "pass"),
		asm.Sub.Imm(asm.R1, markAll),
		asm.StoreMem(asm.R8, credit, asm.R1, asm.DWord),
		asm.Mov.Reg(asm.R1, asm.R6),
		asm.FnSkbEcnSetCe.Call(), // mends the checksum too
	)
	program = append(program, increment(ce)...)
	return append(program,
		asm.Mov.Imm(asm.R0, pass).WithSymbol("pass"),
		asm.Return(),
	)
}

// dropSome drops a packet if some are still to be dropped.
func dropSome(left int16) asm.Instructions {
	return asm.Instructions{
		asm.LoadMem(asm.R1, asm.R8, left, asm.DWord),
		asm.JEq.Imm(asm.R1, 0, "kept"),
		asm.Sub.Imm(asm.R1, 1),
		asm.StoreMem(asm.R8, left, asm.R1, asm.DWord),
		asm.Mov.Imm(asm.R0, drop),
		asm.Return(),
	}
}

func increment(counter int16) asm.Instructions {
	return asm.Instructions{
		asm.LoadMem(asm.R1, asm.R8, counter, asm.DWord),
		asm.Add.Imm(asm.R1, 1),
		asm.StoreMem(asm.R8, counter, asm.R1, asm.DWord),
	}
}

func label(name string, code asm.Instructions) asm.Instructions {
	code[0] = code[0].WithSymbol(name)
	return code
}
