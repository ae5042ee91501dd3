// A leaf-spine of ns-3 that gets a flow list of aqmlab's, and sends each flow along
// the path that aqmlab gives it. What of ns-3.37 differs from Linux and from RFC 8257
// can be put right, one by one; see docs/truth.md.
//
//   apt-get install g++ libns3-dev
//   g++ -O2 -o fabric fabric.cc -lns3-{point-to-point,internet,traffic-control,network,core}
//   ./fabric --flows=flows.csv --leaves=4 --spines=4 --hosts=4 --hash=0
//
// It prints the FCT of each flow in us, and then a line of means that begins with #.
// With one leaf and no spine it is a star, whose queue to the last host is measured.
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <vector>

using namespace ns3;

namespace
{
const uint32_t payload = 1448, listening = 5001, firstPort = 10000;
const uint32_t hostNet = 10u << 24; // host i has the address hostNet + 4 i + 1

uint32_t leaves = 4, spines = 4, perLeaf = 4;
uint64_t hashSeed = 0;

uint64_t Mix(uint64_t x) // SplitMix64
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

// Spine is the spine that a leaf of aqmlab picks for the packets of a flow.
uint32_t Spine(uint32_t flow, uint32_t leaf)
{
    uint32_t node = leaves * perLeaf + leaf;
    uint32_t hash = Mix(hashSeed ^ Mix(flow + 1)) >> 32;
    uint32_t mixed = (uint64_t)(hash ^ (uint32_t)hashSeed ^ node * 0x9e3779b9u) * 0x9e3779b97f4a7c15 >> 32;
    return (uint64_t)mixed * spines >> 32;
}

// Router forwards by address, and among spines by the flow's hash. ns-3 has none.
class Router : public Ipv4RoutingProtocol
{
  public:
    enum { HOST, LEAF, SPINE } kind = HOST;
    uint32_t number = 0;

    Ptr<Ipv4Route> RouteOutput(Ptr<Packet>, const Ipv4Header& h, Ptr<NetDevice>, Socket::SocketErrno& e) override
    {
        e = Socket::ERROR_NOTERROR;
        return By(1, h.GetDestination());
    }

    bool RouteInput(Ptr<const Packet> p, const Ipv4Header& h, Ptr<const NetDevice> from, UnicastForwardCallback forward,
                    MulticastForwardCallback, LocalDeliverCallback deliver, ErrorCallback) override
    {
        uint32_t host = (h.GetDestination().Get() - hostNet) / 4, leaf = host / perLeaf;
        switch (kind)
        {
        case HOST:
            deliver(p, h, m_ip->GetInterfaceForDevice(from));
            return true;
        case SPINE:
            forward(By(1 + leaf, h.GetDestination()), p, h);
            return true;
        default:
            if (leaf == number)
            {
                forward(By(1 + host % perLeaf, h.GetDestination()), p, h);
                return true;
            }
        }
        uint8_t ports[4];
        p->CopyData(ports, 4);
        uint32_t flow = std::max(ports[0] << 8 | ports[1], ports[2] << 8 | ports[3]) - firstPort;
        forward(By(1 + perLeaf + Spine(flow, number), h.GetDestination()), p, h);
        return true;
    }

    void NotifyInterfaceUp(uint32_t) override {}
    void NotifyInterfaceDown(uint32_t) override {}
    void NotifyAddAddress(uint32_t, Ipv4InterfaceAddress) override {}
    void NotifyRemoveAddress(uint32_t, Ipv4InterfaceAddress) override {}
    void SetIpv4(Ptr<Ipv4> ip) override { m_ip = ip; }
    void PrintRoutingTable(Ptr<OutputStreamWrapper>, Time::Unit) const override {}

  private:
    Ptr<Ipv4Route> By(uint32_t port, Ipv4Address to)
    {
        Ptr<Ipv4Route> r = ns3::Create<Ipv4Route>();
        r->SetDestination(to);
        r->SetSource(m_ip->GetAddress(port, 0).GetLocal());
        r->SetGateway(Ipv4Address::GetZero());
        r->SetOutputDevice(m_ip->GetNetDevice(port));
        return r;
    }

    Ptr<Ipv4> m_ip;
};

class RouterHelper : public Ipv4RoutingHelper
{
  public:
    RouterHelper* Copy() const override { return new RouterHelper(*this); }
    Ptr<Ipv4RoutingProtocol> Create(Ptr<Node>) const override { return CreateObject<Router>(); }
};

// Reduction is Proportional Rate Reduction as Linux has it. That of ns-3.37 multiplies
// in 32 bits, and counts the first acknowledgement twice after a mark.
class Reduction : public TcpClassicRecovery
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId t = TypeId("aqmlab::Reduction").SetParent<TcpClassicRecovery>().AddConstructor<Reduction>();
        return t;
    }

    static bool wraps, twice; // as ns-3.37

    std::string GetName() const override { return "Reduction"; }

    void EnterRecovery(Ptr<TcpSocketState> s, uint32_t, uint32_t unacknowledged, uint32_t delivered) override
    {
        m_sent = m_delivered = 0;
        m_flight = unacknowledged;
        // After a mark ns-3 calls DoRecovery for the same acknowledgement.
        DoRecovery(s, twice || s->m_congState != TcpSocketState::CA_CWR ? delivered : 0);
    }

    void DoRecovery(Ptr<TcpSocketState> s, uint32_t delivered) override
    {
        m_delivered += delivered;
        int64_t pipe = s->m_bytesInFlight, target = s->m_ssThresh, segment = s->m_segmentSize, more;
        if (pipe > target)
        {
            int64_t product = wraps ? (uint32_t)(m_delivered * target) : m_delivered * target;
            more = (product + m_flight - 1) / m_flight - m_sent;
        }
        else
        {
            more = std::min<int64_t>(delivered, target - pipe);
        }
        s->m_cWnd = pipe + std::max(more, m_sent > 0 ? 0 : segment);
        s->m_cWndInfl = s->m_cWnd;
    }

    void ExitRecovery(Ptr<TcpSocketState> s) override { s->m_cWndInfl = s->m_cWnd; }
    void UpdateBytesSent(uint32_t n) override { m_sent += n; }
    Ptr<TcpRecoveryOps> Fork() override { return CopyObject<Reduction>(this); }

  private:
    int64_t m_sent = 0, m_delivered = 0, m_flight = 0;
};

bool Reduction::wraps = false, Reduction::twice = false;

struct Flow
{
    double start;
    uint32_t src, dst;
    uint64_t size, sent = 0, received = 0;
    double fct = -1; // us
};

std::vector<Flow> flows;
size_t done = 0;
std::map<Ptr<Socket>, uint32_t> flowOf; // both ends

void Read(const std::string& name)
{
    std::ifstream in(name);
    std::string line;
    std::getline(in, line); // the header: start_s,src,dst,bytes
    while (std::getline(in, line))
    {
        std::replace(line.begin(), line.end(), ',', ' ');
        Flow f;
        if (std::istringstream(line) >> f.start >> f.src >> f.dst >> f.size) flows.push_back(f);
    }
}

void Fill(Ptr<Socket> s, uint32_t)
{
    Flow& f = flows[flowOf[s]];
    while (f.sent < f.size)
    {
        uint32_t n = std::min<uint64_t>(payload, f.size - f.sent);
        if (s->GetTxAvailable() < n || s->Send(Create<Packet>(n)) < 0) return;
        f.sent += n;
        if (f.sent == f.size) s->Close();
    }
}

void Connected(Ptr<Socket> s) { Fill(s, 0); }

void Take(Ptr<Socket> s)
{
    Flow& f = flows[flowOf[s]];
    for (Ptr<Packet> p = s->Recv(); p && p->GetSize() > 0; p = s->Recv()) f.received += p->GetSize();
    if (f.received >= f.size && f.fct < 0)
    {
        f.fct = (Simulator::Now().GetSeconds() - f.start) * 1e6;
        if (++done == flows.size()) Simulator::Stop();
    }
}

void Accept(Ptr<Socket> s, const Address& from)
{
    flowOf[s] = InetSocketAddress::ConvertFrom(from).GetPort() - firstPort;
    s->SetRecvCallback(MakeCallback(&Take));
}

void Open(Ptr<Node> host, uint32_t i)
{
    Ptr<Socket> s = Socket::CreateSocket(host, TcpSocketFactory::GetTypeId());
    flowOf[s] = i;
    s->Bind(InetSocketAddress(Ipv4Address::GetAny(), firstPort + i));
    s->SetConnectCallback(MakeCallback(&Connected), MakeNullCallback<void, Ptr<Socket>>());
    s->SetSendCallback(MakeCallback(&Fill));
    s->Connect(InetSocketAddress(Ipv4Address(hostNet + 4 * flows[i].dst + 1), listening));
}

// Meter is the length of a queue over time: of the discipline, and of the one packet
// that waits in the device below it, which ns-3 counts apart.
struct Meter
{
    uint32_t discipline = 0, device = 0;
    double from = 0, since = 0;
    std::vector<double> held; // seconds with that many packets

    void Account()
    {
        double now = Simulator::Now().GetSeconds();
        uint32_t n = discipline + device;
        if (n >= held.size()) held.resize(n + 1);
        if (now > from) held[n] += now - std::max(since, from);
        since = now;
    }

    void Discipline(uint32_t, uint32_t n) { Account(); discipline = n; }
    void Device(uint32_t, uint32_t n) { Account(); device = n; }

    void Print()
    {
        double all = 0, sum = 0, below = 0;
        for (size_t n = 0; n < held.size(); n++) all += held[n], sum += n * held[n];
        size_t p99 = 0;
        while (p99 < held.size() && (below += held[p99]) < 0.99 * all) p99++;
        printf("# queue: mean %.2f, 99th percentile %zu packets\n", sum / all, p99);
    }
} meter;

double Mean(uint64_t above, uint64_t upTo, size_t* n)
{
    double sum = 0;
    *n = 0;
    for (const Flow& f : flows)
        if (f.fct >= 0 && f.size > above && f.size <= upTo) sum += f.fct, ++*n;
    return sum / *n;
}

void Print()
{
    for (const Flow& f : flows) printf("%.3f\n", f.fct);
    size_t all, small, large;
    double a = Mean(0, UINT64_MAX, &all), s = Mean(0, 100000, &small), l = Mean(10000000, UINT64_MAX, &large);
    printf("# mean FCT in us: all %zu %.1f, up to 100 KB %zu %.1f, above 10 MB %zu %.1f\n", all, a, small, s, large, l);
}
} // namespace

int main(int argc, char** argv)
{
    uint32_t threshold = 65, buffer = 1000, window = 16;
    double rate = 10, delay = 12.5, stop = 10, alpha = 1;
    bool hostPorts = true, bytes = false, reduction = false;
    std::string list;
    CommandLine cmd;
    cmd.AddValue("flows", "flow list, sorted by time: CSV with a header, start in s, source, destination, bytes", list);
    cmd.AddValue("leaves", "leaves", leaves);
    cmd.AddValue("spines", "spines", spines);
    cmd.AddValue("hosts", "hosts of a leaf", perLeaf);
    cmd.AddValue("hash", "seed of the paths", hashSeed);
    cmd.AddValue("rate", "of links, Gbps", rate);
    cmd.AddValue("delay", "of links, us", delay);
    cmd.AddValue("threshold", "marks above that many packets", threshold);
    cmd.AddValue("window", "initial window, segments", window);
    cmd.AddValue("hostPorts", "ports of hosts mark", hostPorts);
    cmd.AddValue("stop", "end of the simulation, s", stop);
    cmd.AddValue("from", "begin of the queue's measurement, s", meter.from);
    cmd.AddValue("bytes", "RED counts bytes, not packets", bytes);
    cmd.AddValue("reduction", "Linux's Proportional Rate Reduction in place of ns-3's", reduction);
    cmd.AddValue("wraps", "of reduction: multiply in 32 bits, as ns-3", Reduction::wraps);
    cmd.AddValue("twice", "of reduction: count the first acknowledgement twice, as ns-3", Reduction::twice);
    cmd.AddValue("alpha", "DCTCP's first estimate: 0.9375 is what the first acknowledgement leaves by RFC 8257", alpha);
    cmd.Parse(argc, argv);
    Read(list);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpDctcp"));
    if (reduction) Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(Reduction::GetTypeId()));
    Config::SetDefault("ns3::TcpDctcp::DctcpAlphaOnInit", DoubleValue(alpha));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue("On"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(payload));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(window));
    Config::SetDefault("ns3::TcpSocket::ConnTimeout", TimeValue(MilliSeconds(10)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(2 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(2 << 20));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(5)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MicroSeconds(100)));
    Config::SetDefault("ns3::RttEstimator::InitialEstimation", TimeValue(MilliSeconds(2)));
    Config::SetDefault("ns3::RedQueueDisc::UseEcn", BooleanValue(true));
    Config::SetDefault("ns3::RedQueueDisc::UseHardDrop", BooleanValue(false));
    Config::SetDefault("ns3::RedQueueDisc::Gentle", BooleanValue(false));
    Config::SetDefault("ns3::RedQueueDisc::MeanPktSize", UintegerValue(1500));
    Config::SetDefault("ns3::RedQueueDisc::QW", DoubleValue(1));
    // RED marks from its threshold on, and does not count the packet in the device: with
    // it, a packet is marked that finds more than the threshold.
    uint32_t unit = bytes ? 1500 : 1;
    Config::SetDefault("ns3::RedQueueDisc::MinTh", DoubleValue(threshold * unit));
    Config::SetDefault("ns3::RedQueueDisc::MaxTh", DoubleValue(threshold * unit));
    QueueSize room(bytes ? QueueSizeUnit::BYTES : QueueSizeUnit::PACKETS, buffer * unit);
    Config::SetDefault("ns3::RedQueueDisc::MaxSize", QueueSizeValue(room));

    NodeContainer hosts, switches;
    hosts.Create(leaves * perLeaf);
    switches.Create(leaves + spines);
    InternetStackHelper inet;
    inet.SetIpv6StackInstall(false);
    inet.SetRoutingHelper(RouterHelper());
    inet.Install(hosts);
    inet.Install(switches);
    for (uint32_t i = 0; i < switches.GetN(); i++)
    {
        auto r = DynamicCast<Router>(switches.Get(i)->GetObject<Ipv4>()->GetRoutingProtocol());
        r->kind = i < leaves ? Router::LEAF : Router::SPINE;
        r->number = i < leaves ? i : i - leaves;
    }

    DataRate bps((uint64_t)(rate * 1e9));
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(bps));
    link.SetChannelAttribute("Delay", TimeValue(NanoSeconds((int64_t)(delay * 1000))));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));
    TrafficControlHelper red, fifo;
    red.SetRootQueueDisc("ns3::RedQueueDisc", "LinkBandwidth", DataRateValue(bps));
    fifo.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue("10000p"));
    Ptr<QueueDisc> last;
    Ptr<PointToPointNetDevice> below;
    auto connect = [&](Ptr<Node> a, Ptr<Node> b, bool mark, uint32_t net) {
        NetDeviceContainer d = link.Install(a, b);
        (mark ? red : fifo).Install(d.Get(0));
        last = red.Install(d.Get(1)).Get(0);
        below = DynamicCast<PointToPointNetDevice>(d.Get(1));
        Ipv4AddressHelper(Ipv4Address(net), Ipv4Mask("255.255.255.252")).Assign(d);
    };
    for (uint32_t i = 0; i < hosts.GetN(); i++) connect(hosts.Get(i), switches.Get(i / perLeaf), hostPorts, hostNet + 4 * i);
    if (spines == 0)
    {
        last->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&Meter::Discipline, &meter));
        below->GetQueue()->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&Meter::Device, &meter));
    }
    for (uint32_t l = 0; l < leaves; l++)
        for (uint32_t s = 0; s < spines; s++)
            connect(switches.Get(l), switches.Get(leaves + s), true, (11u << 24) + 4 * (l * spines + s));

    for (uint32_t i = 0; i < hosts.GetN(); i++)
    {
        Ptr<Socket> s = Socket::CreateSocket(hosts.Get(i), TcpSocketFactory::GetTypeId());
        s->Bind(InetSocketAddress(Ipv4Address::GetAny(), listening));
        s->Listen();
        s->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(), MakeCallback(&Accept));
    }
    for (uint32_t i = 0; i < flows.size(); i++)
        Simulator::Schedule(Seconds(flows[i].start), &Open, hosts.Get(flows[i].src), i);
    Simulator::Stop(Seconds(stop));
    Simulator::Run();
    Print();
    if (spines == 0) meter.Account(), meter.Print();
    fflush(stdout);
    _Exit(0); // taking the network apart takes as long as building it
}
