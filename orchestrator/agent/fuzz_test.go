package agent

import (
	"context"
	"net"
	"net/rpc"
	"testing"
)

// echo answers with what it is asked.
type echo struct{}

func (echo) Echo(in []int, out *[]int) error { *out = in; return nil }

// FuzzMessages: whatever one side of a control connection is sent, it takes that for
// messages or ends the connection.
func FuzzMessages(f *testing.F) {
	f.Add([]byte(`{"method":"Service.Echo","params":[[1,2]],"id":0}`))
	f.Add([]byte(`{"method":"Service.Echo","params":[null],"id":"x"}{"method":7}`))
	f.Add([]byte(`{"id":0,"result":[3],"error":null}`))
	f.Add([]byte(`{"id":0,"result":null,"error":{"a":[]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		server := rpc.NewServer()
		if err := server.RegisterName(serviceName, echo{}); err != nil {
			t.Fatal(err)
		}
		near, far := net.Pipe()
		answered := make(chan struct{})
		go func() { // the server's answers
			defer close(answered)
			buffer := make([]byte, 512)
			for {
				if _, err := far.Read(buffer); err != nil {
					return
				}
			}
		}()
		served := make(chan struct{})
		go func() {
			defer close(served)
			(&session{ctx: t.Context(), server: server}).serveConn(near)
		}()
		_, _ = far.Write(b) // it fails when the server has ended the connection
		far.Close()
		<-served
		<-answered

		near, far = net.Pipe()
		client := newClient(near)
		go func() { // the call, and what it is answered with
			_, _ = far.Read(make([]byte, 512))
			_, _ = far.Write(b)
			far.Close()
		}()
		var got []int
		_ = client.Call(context.Background(), "Echo", []int{3}, &got) // it ends
		_ = client.Close()
	})
}
