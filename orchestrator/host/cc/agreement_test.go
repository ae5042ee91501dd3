package cc

import (
	"fmt"
	"math"
	"testing"
)

// behaviour is what marks make of a connection, on average.
type behaviour struct{ alpha, cwnd float64 }

// behave transfers blocks over a new connection, of which data packets are
// marked with that probability, and averages once it has settled. The sender is
// told of every mark.
func behave(t *testing.T, h *Handle, mark float64) (b behaviour) {
	t.Helper()
	const settled, blocks = 200, 2500
	n := newNetwork(t)
	// Between blocks ours puts its window aside otherwise; here it is compared.
	n.client.sysctl(t, "tcp_slow_start_after_idle", "0")
	n.wire.set(plan{mark: mark})
	client, _ := n.connect(t, h.Name(), h.Name())
	done := 0
	transfer(t, client, func() bool {
		if s := dctcp(t, h, client); done >= settled {
			b.alpha += s.DCTCP.Alpha / (blocks - settled)
			b.cwnd += float64(s.Cwnd) / (blocks - settled)
		}
		done++
		return done < blocks
	})
	wantExactEcho(t, n, state(t, h, client))
	return b
}

// TestAgreesWithKernel: our DCTCP and the kernel's, one after the other on the
// same wire with the same dice, come to like estimates and windows.
//
// They may differ by what some hundred windows leave to chance, and by what the kernel
// rounds down. Its alpha has ten bits, so its windows are 8 % larger where one packet in 17
// is marked. With fewer marks they would differ by more: one among more than 64 packets does
// not raise alpha.
func TestAgreesWithKernel(t *testing.T) {
	needsRoot(t)
	theirs, err := Acquire(named("dctcp"), suffix("j"))
	must(t, err)
	defer func() { must(t, theirs.Close()) }()
	if theirs.Provider() != Kernel {
		t.Skip("the kernel has no DCTCP of its own")
	}
	ours := unlinked(t, "j")
	defer func() { must(t, ours.Close()) }()
	for _, mark := range []float64{0.06, 0.1, 0.25, 1} {
		t.Run(fmt.Sprint(mark), func(t *testing.T) {
			kernel, own := behave(t, theirs, mark), behave(t, ours, mark)
			t.Logf("the kernel's alpha %.3f, window %.1f; ours %.3f, %.1f", kernel.alpha, kernel.cwnd, own.alpha, own.cwnd)
			if math.Abs(kernel.alpha-own.alpha) > 0.02 || math.Abs(kernel.cwnd-own.cwnd) > 0.2*kernel.cwnd {
				t.Error("they differ")
			}
		})
	}
}
