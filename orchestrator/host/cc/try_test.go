package cc
import ("testing";"os/exec";"fmt";"time")
func TestTry(t *testing.T){
 for _,f:=range []float64{0,0.01,0.05,0.1,0.25,0.5,1} {
 t.Run(fmt.Sprint(f),func(t *testing.T){
 n:=newNetwork(t)
 h,err:=Acquire("dctcp","try"); must(t,err); defer h.Close()
 n.marker.set(t,markerState{Fraction:uint64(f*markAll)})
 c,_:=n.connect(t,h.Name(),h.Name())
 raw,_:=c.SyscallConn()
 st,err:=h.State(raw); must(t,err)
 fmt.Printf("start %+v %+v\n",st,st.DCTCP)
 ce0:=n.server.inCE(t)
 t0:=time.Now()
 var sum,sq,w float64; var k int
 k2:=0; var last State
 transfer(t,c,func() bool { st,err:=h.State(raw); must(t,err); k2++; if st.Cwnd>40 || (last.Cwnd>40) {fmt.Printf("BIG %d %+v %+v\n",k2,st,*st.DCTCP)}; last=st; if st.DCTCP.Windows>100 {sum+=st.DCTCP.Alpha;sq+=st.DCTCP.Alpha*st.DCTCP.Alpha;w+=float64(st.Cwnd);k++}; return st.DCTCP.Windows<1000 && k2<10000})
 st,err=h.State(raw); must(t,err)
 m:=n.marker.get(t)
 if int(st.DeliveredCE)-int(m.CE)>5 || int(st.DeliveredCE)-int(m.CE)< -5 { o,_:=exec.Command("bpftool","prog","show").CombinedOutput(); fmt.Println(string(o)) }

 fmt.Printf("f=%v end %+v %+v marker %+v inCE %d k=%d mean alpha %.4f  msq %.4f cwnd %.2f %v\n",f,st,*st.DCTCP,m,n.server.inCE(t)-ce0,k,sum/float64(k),sq/float64(k)-(sum/float64(k))*(sum/float64(k)),w/float64(k),time.Since(t0))
 })}
}
