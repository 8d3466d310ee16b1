// A dumbbell in ns-3 that counts what leaves the bottleneck. Built and run by run.py as: dumbbell --key=value …
// Prints one line of JSON. All times in seconds, rates in bit/s, sizes in bytes, limits in packets.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-layout-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

using namespace ns3;

namespace
{

struct Options
{
    double rate = 10e6;
    double delay = 0.005;
    uint32_t limit = 30;
    std::string queue = "tail-drop";
    std::string cc = "cubic";
    uint32_t flows = 16;
    double latestStart = 5.0;
    double accessRate = 1e9;
    double accessDelay = 0.0001;
    double warmup = 10.0;
    double duration = 100.0;
    uint32_t seed = 1;

    void Parse(int argc, char** argv)
    {
        CommandLine line;
        line.AddValue("rate", "bottleneck, bit/s", rate);
        line.AddValue("delay", "bottleneck, one way, seconds", delay);
        line.AddValue("limit", "packets", limit);
        line.AddValue("queue", "tail-drop, codel", queue);
        line.AddValue("cc", "cubic, reno", cc);
        line.AddValue("flows", "number of flows", flows);
        line.AddValue("latest_start", "seconds", latestStart);
        line.AddValue("access_rate", "bit/s", accessRate);
        line.AddValue("access_delay", "one way, seconds", accessDelay);
        line.AddValue("warmup", "seconds", warmup);
        line.AddValue("duration", "measured seconds, after the warm-up", duration);
        line.AddValue("seed", "run number", seed);
        line.Parse(argc, argv);
    }
};

// Counts at the bottleneck: packets that started transmission, dropped packets, and the time integral of waiting packets.
class Bottleneck
{
  public:
    struct Counts
    {
        uint64_t departures = 0;
        uint64_t bytes = 0;
        uint64_t drops = 0;
        double area = 0;
    };

    void Watch(Ptr<NetDevice> netDevice, Ptr<QueueDisc> disc)
    {
        auto device = DynamicCast<PointToPointNetDevice>(netDevice);
        auto fifo = device->GetQueue();
        device->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&Bottleneck::Departed, this));
        fifo->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&Bottleneck::FifoLength, this));
        if (disc)
        {
            disc->TraceConnectWithoutContext("Drop", MakeCallback(&Bottleneck::DiscDropped, this));
            disc->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&Bottleneck::DiscLength, this));
        }
        else
        {
            // Without a discipline a full device queue is reported by the layer above it.
            fifo->TraceConnectWithoutContext("Drop", MakeCallback(&Bottleneck::Dropped, this));
            auto layer = device->GetNode()->GetObject<TrafficControlLayer>();
            layer->TraceConnectWithoutContext("TcDrop", MakeCallback(&Bottleneck::Dropped, this));
        }
    }

    Counts Read()
    {
        Integrate();
        return m_counts;
    }

  private:
    void Departed(Ptr<const Packet> packet)
    {
        m_counts.departures++;
        m_counts.bytes += packet->GetSize();
    }

    void Dropped(Ptr<const Packet>)
    {
        m_counts.drops++;
    }

    void DiscDropped(Ptr<const QueueDiscItem>)
    {
        m_counts.drops++;
    }

    void FifoLength(uint32_t, uint32_t now)
    {
        Integrate();
        m_inFifo = now;
    }

    void DiscLength(uint32_t, uint32_t now)
    {
        Integrate();
        m_inDisc = now;
    }

    void Integrate()
    {
        const double now = Simulator::Now().GetSeconds();
        m_counts.area += (m_inFifo + m_inDisc) * (now - m_since);
        m_since = now;
    }

    Counts m_counts;
    uint32_t m_inFifo = 0;
    uint32_t m_inDisc = 0;
    double m_since = 0;
};

void
ConfigureTcp(const Options& options)
{
    const std::string kind = options.cc == "reno" ? "ns3::TcpNewReno" : "ns3::TcpCubic";
    // Windows that never limit: every flow may hold four times its share of pipe and buffer, and a megabyte at least.
    const double pipe = options.rate * 2 * (options.delay + 2 * options.accessDelay) / 8 + options.limit * 1500.0;
    const auto window = static_cast<uint64_t>(std::max(1e6, 4 * pipe / options.flows));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName(kind)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(window));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window));
}

PointToPointHelper
LinkOf(double rate, double delay, uint32_t limit)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(rate))));
    link.SetChannelAttribute("Delay", TimeValue(Seconds(delay)));
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, limit)));
    return link;
}

// Address assignment puts a default discipline on every device; this takes it away again where none is wanted.
void
RemoveDisciplinesExcept(Ptr<NetDevice> kept)
{
    TrafficControlHelper helper;
    for (uint32_t n = 0; n < NodeList::GetNNodes(); n++)
    {
        auto node = NodeList::GetNode(n);
        auto layer = node->GetObject<TrafficControlLayer>();
        for (uint32_t d = 0; d < node->GetNDevices(); d++)
        {
            auto device = node->GetDevice(d);
            if (device != kept && layer && layer->GetRootQueueDiscOnDevice(device))
            {
                helper.Uninstall(device);
            }
        }
    }
}

} // namespace

int
main(int argc, char** argv)
{
    Options options;
    options.Parse(argc, argv);
    if (options.queue != "tail-drop" && options.queue != "codel")
    {
        std::fprintf(stderr, "dumbbell: no queue `%s'\n", options.queue.c_str());
        return 2;
    }
    RngSeedManager::SetRun(options.seed);
    ConfigureTcp(options);

    const bool fifo = options.queue == "tail-drop";
    const uint32_t plenty = 1000000;
    PointToPointDumbbellHelper net(options.flows,
                                   LinkOf(options.accessRate, options.accessDelay, plenty),
                                   options.flows,
                                   LinkOf(options.accessRate, options.accessDelay, plenty),
                                   LinkOf(options.rate, options.delay, fifo ? options.limit : 1));
    InternetStackHelper stack;
    net.InstallStack(stack);
    auto device = net.GetLeft()->GetDevice(0);
    Ptr<QueueDisc> disc;
    if (!fifo)
    {
        TrafficControlHelper helper;
        helper.SetRootQueueDisc("ns3::CoDelQueueDisc",
                                "MaxSize",
                                QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, options.limit)));
        disc = helper.Install(device).Get(0);
    }
    net.AssignIpv4Addresses(Ipv4AddressHelper("10.1.0.0", "255.255.255.0"),
                            Ipv4AddressHelper("10.128.0.0", "255.255.255.0"),
                            Ipv4AddressHelper("10.250.0.0", "255.255.255.0"));
    RemoveDisciplinesExcept(fifo ? nullptr : device);
    // The way back carries acknowledgements and is never the subject.
    DynamicCast<PointToPointNetDevice>(net.GetRight()->GetDevice(0))->GetQueue()->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, plenty));
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    auto starts = CreateObject<UniformRandomVariable>();
    const uint16_t port = 5001;
    for (uint32_t i = 0; i < options.flows; i++)
    {
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        sink.Install(net.GetRight(i)).Start(Seconds(0));
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(net.GetRightIpv4Address(i), port));
        bulk.SetAttribute("SendSize", UintegerValue(1448));
        bulk.Install(net.GetLeft(i)).Start(Seconds(starts->GetValue(0, options.latestStart)));
    }

    Bottleneck bottleneck;
    bottleneck.Watch(device, disc);
    Bottleneck::Counts before;
    Simulator::Schedule(Seconds(options.warmup), [&] { before = bottleneck.Read(); });
    Simulator::Stop(Seconds(options.warmup + options.duration));
    Simulator::Run();
    const auto after = bottleneck.Read();
    Simulator::Destroy();

    const auto departures = static_cast<double>(after.departures - before.departures);
    const auto drops = static_cast<double>(after.drops - before.drops);
    std::printf("{\"packets\": %llu, \"utilisation\": %.6f, \"queue_packets\": %.4f, \"loss\": %.8f}\n",
                static_cast<unsigned long long>(after.departures),
                (after.bytes - before.bytes) * 8.0 / (options.duration * options.rate),
                (after.area - before.area) / options.duration,
                drops / std::max(1.0, departures + drops));
    return 0;
}
