// A dumbbell in ns-3 that counts what leaves the bottleneck. Built and run by dumbbells.py as: dumbbell --key=value …
// Prints one line of JSON. All times in seconds, rates in bit/s, sizes in bytes, limits in packets.

#include "watch.h"

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
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

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
    double markFrom = 0;
    uint32_t initialWindow = 10;
    double ackDelay = 0.2;
    std::string trace;

    void Parse(int argc, char** argv)
    {
        CommandLine line;
        line.AddValue("rate", "bottleneck, bit/s", rate);
        line.AddValue("delay", "bottleneck, one way, seconds", delay);
        line.AddValue("limit", "packets", limit);
        line.AddValue("queue", "tail-drop, codel, step", queue);
        line.AddValue("cc", "reno, linux-reno, cubic, htcp, bbr, dctcp, ledbat", cc);
        line.AddValue("flows", "number of flows", flows);
        line.AddValue("latest_start", "seconds", latestStart);
        line.AddValue("access_rate", "bit/s", accessRate);
        line.AddValue("access_delay", "one way, seconds", accessDelay);
        line.AddValue("warmup", "seconds", warmup);
        line.AddValue("duration", "measured seconds, after the warm-up", duration);
        line.AddValue("seed", "run number", seed);
        line.AddValue("mark_from", "packets from which a step marks", markFrom);
        line.AddValue("initial_window", "segments", initialWindow);
        line.AddValue("ack_delay", "longest, seconds", ackDelay);
        line.AddValue("trace", "file for window and queue of the first flow", trace);
        line.Parse(argc, argv);
    }
};

// Counts at the bottleneck: packets that started transmission, dropped packets, and the time integral of waiting packets.
class Bottleneck : public QueueWatch
{
  public:
    struct Counts
    {
        uint64_t departures = 0;
        uint64_t bytes = 0;
        uint64_t drops = 0;
        double area = 0;
    };

    Bottleneck()
        : QueueWatch("PacketsInQueue")
    {
    }

    Counts Read()
    {
        m_counts.area = GetArea();
        return m_counts;
    }

  private:
    void Departed(Ptr<const Packet> packet) override
    {
        m_counts.departures++;
        m_counts.bytes += packet->GetSize();
    }

    void Dropped(Ptr<const Packet>, uint32_t) override
    {
        m_counts.drops++;
    }

    Counts m_counts;
};

// Counts data packets that senders put on their way, and those they had sent before.
class Senders
{
  public:
    struct Counts
    {
        uint64_t sent = 0;
        uint64_t again = 0;
    };

    // Called once the application has its socket.
    void Watch(Ptr<Application> application)
    {
        auto socket = DynamicCast<BulkSendApplication>(application)->GetSocket();
        m_next.emplace_back(0);
        socket->TraceConnectWithoutContext("Tx", MakeCallback(&Senders::Sent, this).Bind(m_next.size() - 1));
        socket->TraceConnectWithoutContext("CongestionWindow", MakeCallback(&Senders::Window, this));
    }

    Counts Read() const
    {
        return m_counts;
    }

    // The last window that any sender had, in bytes: of use with one flow.
    uint32_t GetWindow() const
    {
        return m_window;
    }

  private:
    void Sent(std::size_t flow, Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>)
    {
        if (packet->GetSize() == 0)
        {
            return;
        }
        m_counts.sent++;
        if (header.GetSequenceNumber() < m_next[flow])
        {
            m_counts.again++;
        }
        else
        {
            m_next[flow] = header.GetSequenceNumber() + packet->GetSize();
        }
    }

    void Window(uint32_t, uint32_t now)
    {
        m_window = now;
    }

    Counts m_counts;
    std::vector<SequenceNumber32> m_next;
    uint32_t m_window = 0;
};

void
ConfigureTcp(const Options& options)
{
    static const std::map<std::string, std::string> kinds = {{"reno", "ns3::TcpNewReno"},
                                                             {"linux-reno", "ns3::TcpLinuxReno"},
                                                             {"cubic", "ns3::TcpCubic"},
                                                             {"htcp", "ns3::TcpHtcp"},
                                                             {"bbr", "ns3::TcpBbr"},
                                                             {"dctcp", "ns3::TcpDctcp"},
                                                             {"ledbat", "ns3::TcpLedbat"}};
    const auto found = kinds.find(options.cc);
    if (found == kinds.end())
    {
        std::fprintf(stderr, "dumbbell: no control `%s'\n", options.cc.c_str());
        std::exit(2);
    }
    const auto& kind = found->second;
    // Windows that never limit: every flow may hold four times its share of pipe and buffer, and a megabyte at least.
    const double pipe = options.rate * 2 * (options.delay + 2 * options.accessDelay) / 8 + options.limit * 1500.0;
    const auto window = static_cast<uint64_t>(std::max(1e6, 4 * pipe / options.flows));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName(kind)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(options.initialWindow));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(Seconds(options.ackDelay)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(window));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window));
}

void
RemoveDisciplinesExcept(Ptr<NetDevice> kept)
{
    for (uint32_t n = 0; n < NodeList::GetNNodes(); n++)
    {
        auto node = NodeList::GetNode(n);
        for (uint32_t d = 0; d < node->GetNDevices(); d++)
        {
            if (node->GetDevice(d) != kept)
            {
                RemoveDiscipline(node->GetDevice(d));
            }
        }
    }
}

// The discipline in front of a device, which itself holds one more waiting packet.
Ptr<QueueDisc>
InstallDiscipline(const Options& options, Ptr<NetDevice> device)
{
    TrafficControlHelper helper;
    if (options.queue == "codel")
    {
        helper.SetRootQueueDisc("ns3::CoDelQueueDisc",
                                "MaxSize",
                                QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, options.limit)));
    }
    else
    {
        // RED whose average is the queue itself and whose two thresholds are one: it marks every packet from there on. Its numbers
        // are one fewer, so that discipline and device together have those that were asked for.
        helper.SetRootQueueDisc("ns3::RedQueueDisc",
                                "MaxSize",
                                QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, options.limit - 1)),
                                "MinTh",
                                DoubleValue(options.markFrom - 1),
                                "MaxTh",
                                DoubleValue(options.markFrom - 1),
                                "QW",
                                DoubleValue(1),
                                "Gentle",
                                BooleanValue(false),
                                "UseEcn",
                                BooleanValue(true),
                                "UseHardDrop",
                                BooleanValue(false),
                                "MeanPktSize",
                                UintegerValue(1500));
    }
    return helper.Install(device).Get(0);
}

// A line every 10 ms: seconds, window in packets, waiting packets.
void
WriteTrace(std::FILE* file, const Senders* senders, const Bottleneck* bottleneck)
{
    std::fprintf(file, "%.2f %.3f %u\n", Simulator::Now().GetSeconds(), senders->GetWindow() / 1448.0, bottleneck->GetLength());
    Simulator::Schedule(MilliSeconds(10), &WriteTrace, file, senders, bottleneck);
}

} // namespace

int
main(int argc, char** argv)
{
    Options options;
    options.Parse(argc, argv);
    if (options.queue != "tail-drop" && options.queue != "codel" && options.queue != "step")
    {
        std::fprintf(stderr, "dumbbell: no queue `%s'\n", options.queue.c_str());
        return 2;
    }
    RngSeedManager::SetRun(options.seed);
    ConfigureTcp(options);

    const bool fifo = options.queue == "tail-drop";
    const QueueSize plenty(QueueSizeUnit::PACKETS, 1000000);
    const QueueSize own(QueueSizeUnit::PACKETS, fifo ? options.limit : 1);
    PointToPointDumbbellHelper net(options.flows,
                                   LinkOf(options.accessRate, options.accessDelay, plenty),
                                   options.flows,
                                   LinkOf(options.accessRate, options.accessDelay, plenty),
                                   LinkOf(options.rate, options.delay, own));
    InternetStackHelper stack;
    net.InstallStack(stack);
    auto device = net.GetLeft()->GetDevice(0);
    Ptr<QueueDisc> disc = fifo ? nullptr : InstallDiscipline(options, device);
    net.AssignIpv4Addresses(Ipv4AddressHelper("10.1.0.0", "255.255.255.0"),
                            Ipv4AddressHelper("10.128.0.0", "255.255.255.0"),
                            Ipv4AddressHelper("10.250.0.0", "255.255.255.0"));
    RemoveDisciplinesExcept(fifo ? nullptr : device);
    // The way back carries acknowledgements and is never the subject.
    DynamicCast<PointToPointNetDevice>(net.GetRight()->GetDevice(0))->GetQueue()->SetMaxSize(plenty);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    auto starts = CreateObject<UniformRandomVariable>();
    const uint16_t port = 5001;
    Senders senders;
    for (uint32_t i = 0; i < options.flows; i++)
    {
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        sink.Install(net.GetRight(i)).Start(Seconds(0));
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(net.GetRightIpv4Address(i), port));
        bulk.SetAttribute("SendSize", UintegerValue(1448));
        auto application = bulk.Install(net.GetLeft(i));
        const auto start = Seconds(starts->GetValue(0, options.latestStart));
        application.Start(start);
        Simulator::Schedule(start + MicroSeconds(1), &Senders::Watch, &senders, application.Get(0));
    }

    Bottleneck bottleneck;
    bottleneck.Watch(device, disc);
    Bottleneck::Counts before;
    Senders::Counts sentBefore;
    Simulator::Schedule(Seconds(options.warmup), [&] {
        before = bottleneck.Read();
        sentBefore = senders.Read();
    });
    if (!options.trace.empty())
    {
        auto file = std::fopen(options.trace.c_str(), "w");
        NS_ABORT_MSG_UNLESS(file, "cannot write the trace");
        Simulator::Schedule(MilliSeconds(10), &WriteTrace, file, &senders, &bottleneck);
    }
    Simulator::Stop(Seconds(options.warmup + options.duration));
    Simulator::Run();
    const auto after = bottleneck.Read();
    const auto sentAfter = senders.Read();
    Simulator::Destroy();

    const auto departures = static_cast<double>(after.departures - before.departures);
    const auto drops = static_cast<double>(after.drops - before.drops);
    const auto sent = static_cast<double>(sentAfter.sent - sentBefore.sent);
    std::printf("{\"packets\": %llu, \"utilization\": %.6f, \"queue_packets\": %.4f, \"loss\": %.8f, \"retransmitted\": %.8f}\n",
                static_cast<unsigned long long>(after.departures),
                (after.bytes - before.bytes) * 8.0 / (options.duration * options.rate),
                (after.area - before.area) / options.duration,
                drops / std::max(1.0, departures + drops),
                static_cast<double>(sentAfter.again - sentBefore.again) / std::max(1.0, sent));
    return 0;
}
