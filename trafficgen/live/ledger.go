package live

import "sync"

// Account is what the server of a flow sent again for it: from the request on,
// until the next request on the connection or its end, so that what is sent
// again needlessly behind the last byte counts.
type Account struct {
	Flow        int64 // id
	Retransmits int64 // packets; [results.Unknown] where the kernel could not be asked
	Timeouts    int64 // retransmission timers that expired; [results.Unknown] before Linux 6.7
}

// ledger holds the accounts of a server. The zero value is ready to use.
type ledger struct {
	mu   sync.Mutex
	open map[*socket]entry
	done []Account
}

// entry is an account that is open.
type entry struct {
	socket *socket
	flow   int64
	before again
}

// busy appends the accounts that are open to a list.
func (l *ledger) busy(list []entry) []entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.open {
		list = append(list, e)
	}
	return list
}

// begin opens the account of the flow that a connection is asked for, and ends
// that of the one before.
func (l *ledger) begin(s *socket, flow int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := s.again()
	l.settle(s, now)
	if l.open == nil {
		l.open = map[*socket]entry{}
	}
	l.open[s] = entry{s, flow, now}
}

// end ends the account of a connection's last flow, while the connection can
// still be asked.
func (l *ledger) end(s *socket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settle(s, s.again())
}

// settle closes an account if one is open; l.mu is held.
func (l *ledger) settle(s *socket, now again) {
	e, ok := l.open[s]
	if !ok {
		return
	}
	delete(l.open, s)
	sum := now.since(e.before)
	l.done = append(l.done, Account{e.flow, sum.packets, sum.timeouts})
}

// Accounts ends all accounts and returns those that no call has returned before.
// It is meant for when all flows of a trace are over.
func (s *Server) Accounts() []Account {
	l := &s.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	for sock := range l.open {
		l.settle(sock, sock.again())
	}
	done := l.done
	l.done = nil
	return done
}
