// Replays a trace of aqmlab in ns-3, and writes FlowMonitor's file for aqmlab results import.
//
// The network is that of the lab quickstart: a star of 1 Gbps with a base RTT of 250 us, DCTCP,
// and switch ports that mark above 21 packets and hold 64. A line of the trace is: start with
// its unit, host that sends, host that receives, bytes.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/flow-monitor-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <fstream>
#include <string>
#include <vector>

using namespace ns3;

static void
Transport()
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpDctcp"));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue("On"));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(10)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MicroSeconds(100)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::ConnTimeout", TimeValue(MilliSeconds(10)));
    Config::SetDefault("ns3::TcpSocket::ConnCount", UintegerValue(60));
    Config::SetDefault("ns3::RttEstimator::InitialEstimation", TimeValue(MilliSeconds(2)));
}

static void
Marking()
{
    Config::SetDefault("ns3::RedQueueDisc::UseEcn", BooleanValue(true));
    Config::SetDefault("ns3::RedQueueDisc::UseHardDrop", BooleanValue(false));
    Config::SetDefault("ns3::RedQueueDisc::Gentle", BooleanValue(false));
    Config::SetDefault("ns3::RedQueueDisc::QW", DoubleValue(1));
    Config::SetDefault("ns3::RedQueueDisc::MinTh", DoubleValue(21));
    Config::SetDefault("ns3::RedQueueDisc::MaxTh", DoubleValue(21));
    Config::SetDefault("ns3::RedQueueDisc::MaxSize", StringValue("64p"));
}

int
main(int argc, char** argv)
{
    std::string trace = "trace.txt", out = "flowmon.xml", limit = "20s";
    uint32_t hosts = 9;
    CommandLine cmd;
    cmd.AddValue("trace", "file with the flows", trace);
    cmd.AddValue("out", "file for FlowMonitor", out);
    cmd.AddValue("limit", "when the simulation ends", limit);
    cmd.AddValue("hosts", "hosts of the star", hosts);
    cmd.Parse(argc, argv);
    Transport();
    Marking();

    NodeContainer nodes, hub;
    nodes.Create(hosts);
    hub.Create(1);
    InternetStackHelper internet;
    internet.SetIpv6StackInstall(false);
    internet.Install(nodes);
    internet.Install(hub);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    link.SetChannelAttribute("Delay", StringValue("62500ns"));
    TrafficControlHelper red;
    red.SetRootQueueDisc("ns3::RedQueueDisc", "LinkBandwidth", StringValue("1Gbps"));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    std::vector<Ipv4Address> at;
    for (uint32_t i = 0; i < hosts; i++)
    {
        NetDeviceContainer ends = link.Install(nodes.Get(i), hub.Get(0));
        red.Install(ends.Get(1));
        at.push_back(addresses.Assign(ends).GetAddress(0));
        addresses.NewNetwork();
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    std::ifstream in(trace);
    std::string start;
    uint32_t from, to;
    uint64_t bytes;
    for (uint16_t port = 20000; in >> start >> from >> to >> bytes; port++)
    {
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        sink.Install(nodes.Get(to)).Start(Seconds(0));
        BulkSendHelper send("ns3::TcpSocketFactory", InetSocketAddress(at[to], port));
        send.SetAttribute("MaxBytes", UintegerValue(bytes));
        send.Install(nodes.Get(from)).Start(Time(start));
    }
    FlowMonitorHelper monitor;
    monitor.InstallAll();
    Simulator::Stop(Time(limit));
    Simulator::Run();
    monitor.SerializeToXmlFile(out, false, false);
    return 0;
}
