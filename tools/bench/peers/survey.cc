// Nodes at two edges of a core link in ns-3: TCP with ECN and on-off UDP. Built and run by survey.py as: survey --key=value …
// Prints one line of JSON. Times in seconds, rates in bit/s, sizes and limits in bytes unless they say packets.

#include "watch.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

using namespace ns3;

namespace
{

struct Options
{
    std::string queue = "tail-drop";
    double rate = 45e6;
    double delay = 0.01;
    uint32_t limit = 100000;
    uint32_t packet = 1000;
    double edgeRate = 100e6;
    uint32_t edgePackets = 200;
    std::string inDelays;
    std::string outDelays;
    uint32_t senders = 3;
    uint32_t initialWindow = 2;
    double latestStart = 1.0;
    double peak = 1e6;
    double meanOn = 0.02;
    double meanOff = 0.08;
    uint32_t small = 100;
    double duration = 20.0;
    uint32_t seed = 1;
    double redMin = 20000;
    double redMax = 80000;
    double redWeight = 0.002;
    double redTop = 1.0;

    void Parse(int argc, char** argv)
    {
        CommandLine line;
        line.AddValue("queue", "tail-drop, red", queue);
        line.AddValue("rate", "of the core link", rate);
        line.AddValue("delay", "of the core link, one way", delay);
        line.AddValue("limit", "of the core link's queue", limit);
        line.AddValue("packet", "IP length of TCP's packets", packet);
        line.AddValue("edge_rate", "of the edge links", edgeRate);
        line.AddValue("edge_packets", "that each of them holds", edgePackets);
        line.AddValue("in_delays", "one way, of the links on the left, with commas between", inDelays);
        line.AddValue("out_delays", "the same on the right", outDelays);
        line.AddValue("senders", "of TCP in each node", senders);
        line.AddValue("initial_window", "segments", initialWindow);
        line.AddValue("latest_start", "seconds", latestStart);
        line.AddValue("peak", "rate of UDP in a burst", peak);
        line.AddValue("mean_on", "length of a burst", meanOn);
        line.AddValue("mean_off", "length of a silence", meanOff);
        line.AddValue("small", "IP length of UDP's packets", small);
        line.AddValue("duration", "seconds", duration);
        line.AddValue("seed", "run number", seed);
        line.AddValue("red_min", "lower threshold", redMin);
        line.AddValue("red_max", "upper threshold", redMax);
        line.AddValue("red_weight", "of a sample in the average", redWeight);
        line.AddValue("red_top", "probability at the upper threshold", redTop);
        line.Parse(argc, argv);
    }
};

std::vector<double>
Numbers(const std::string& text)
{
    std::vector<double> numbers;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, ',');)
    {
        numbers.push_back(std::stod(part));
    }
    return numbers;
}

// What the core link's queue does. Lengths in bytes.
class Core : public QueueWatch
{
  public:
    Core()
        : QueueWatch("BytesInQueue")
    {
    }

    void Print(const Options& options)
    {
        const auto arrived = static_cast<double>(std::max<uint64_t>(1, m_departed + m_dropped + m_entered.size()));
        const double arrivedBytes = std::max(1.0, m_departedBytes + m_droppedBytes);
        std::printf("{\"utilization\": %.6f, \"delay_s\": %.8f, \"queue_bytes\": %.2f, \"loss\": %.8f, \"loss_bytes\": %.8f, \"marked\": %.8f}\n",
                    m_departedBytes * 8.0 / (options.duration * options.rate),
                    m_delays / std::max<double>(1.0, m_departed),
                    GetArea() / options.duration,
                    m_dropped / arrived,
                    m_droppedBytes / arrivedBytes,
                    m_marked / arrived);
    }

  private:
    // Times are kept by the packet's own number, which stays with it on its way through discipline and device.
    void Entered(Ptr<const Packet> packet) override
    {
        m_entered[packet->GetUid()] = Simulator::Now().GetSeconds();
    }

    void Departed(Ptr<const Packet> packet) override
    {
        m_departed++;
        m_departedBytes += packet->GetSize() - FRAMING;
        const auto found = m_entered.find(packet->GetUid());
        if (found != m_entered.end())
        {
            m_delays += Simulator::Now().GetSeconds() - found->second;
            m_entered.erase(found);
        }
    }

    void Dropped(Ptr<const Packet> packet, uint32_t bytes) override
    {
        m_entered.erase(packet->GetUid());
        m_dropped++;
        m_droppedBytes += bytes;
    }

    void Marked() override
    {
        m_marked++;
    }

    // The device's header of two bytes, which other programs do not have.
    static constexpr uint32_t FRAMING = 2;

    std::unordered_map<uint64_t, double> m_entered;
    uint64_t m_departed = 0;
    uint64_t m_dropped = 0;
    uint64_t m_marked = 0;
    double m_departedBytes = 0;
    double m_droppedBytes = 0;
    double m_delays = 0;
};

void
ConfigureTcp(const Options& options)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::TcpNewReno")));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", EnumValue(TcpSocketState::On));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(options.packet - 40));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(options.initialWindow));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4000000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4000000));
}

Ptr<QueueDisc>
InstallRed(const Options& options, Ptr<NetDevice> device)
{
    TrafficControlHelper helper;
    helper.SetRootQueueDisc("ns3::RedQueueDisc",
                            "MaxSize",
                            QueueSizeValue(QueueSize(QueueSizeUnit::BYTES, options.limit)),
                            "MinTh",
                            DoubleValue(options.redMin),
                            "MaxTh",
                            DoubleValue(options.redMax),
                            "QW",
                            DoubleValue(options.redWeight),
                            "LInterm",
                            DoubleValue(1 / options.redTop),
                            "Gentle",
                            BooleanValue(false),
                            "UseEcn",
                            BooleanValue(true),
                            "UseHardDrop",
                            BooleanValue(false),
                            "MeanPktSize",
                            UintegerValue(options.packet),
                            "LinkBandwidth",
                            DataRateValue(DataRate(static_cast<uint64_t>(options.rate))),
                            "LinkDelay",
                            TimeValue(Seconds(options.delay)));
    return helper.Install(device).Get(0);
}

// Addresses for a link; the default discipline that comes with them is taken away unless it is the one that was asked for.
void
AssignAddresses(Ipv4AddressHelper& addresses, const NetDeviceContainer& devices, Ptr<NetDevice> kept)
{
    addresses.Assign(devices);
    addresses.NewNetwork();
    for (uint32_t d = 0; d < devices.GetN(); d++)
    {
        if (devices.Get(d) != kept)
        {
            RemoveDiscipline(devices.Get(d));
        }
    }
}

void
StartTraffic(const Options& options, Ptr<Node> source, Ptr<Node> destination, Ptr<UniformRandomVariable> starts)
{
    const auto address = destination->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
    const InetSocketAddress tcp(address, 5001);
    const InetSocketAddress udp(address, 5002);
    PacketSinkHelper("ns3::TcpSocketFactory", tcp).Install(destination).Start(Seconds(0));
    PacketSinkHelper("ns3::UdpSocketFactory", udp).Install(destination).Start(Seconds(0));
    for (uint32_t i = 0; i < options.senders; i++)
    {
        BulkSendHelper bulk("ns3::TcpSocketFactory", tcp);
        bulk.SetAttribute("SendSize", UintegerValue(options.packet - 40));
        bulk.Install(source).Start(Seconds(starts->GetValue(0, options.latestStart)));
    }
    const uint32_t payload = options.small - 28;
    OnOffHelper onOff("ns3::UdpSocketFactory", udp);
    // The rate counts payload here.
    onOff.SetAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(options.peak * payload / options.small))));
    onOff.SetAttribute("PacketSize", UintegerValue(payload));
    onOff.SetAttribute("OnTime", StringValue("ns3::ExponentialRandomVariable[Mean=" + std::to_string(options.meanOn) + "]"));
    onOff.SetAttribute("OffTime", StringValue("ns3::ExponentialRandomVariable[Mean=" + std::to_string(options.meanOff) + "]"));
    onOff.Install(source).Start(Seconds(starts->GetValue(0, options.latestStart)));
}

} // namespace

int
main(int argc, char** argv)
{
    Options options;
    options.Parse(argc, argv);
    const auto inDelays = Numbers(options.inDelays);
    const auto outDelays = Numbers(options.outDelays);
    if ((options.queue != "tail-drop" && options.queue != "red") || inDelays.empty() || inDelays.size() != outDelays.size())
    {
        std::fprintf(stderr, "survey: a queue of tail-drop or red, and as many delays on the left as on the right\n");
        return 2;
    }
    RngSeedManager::SetRun(options.seed);
    ConfigureTcp(options);

    const bool fifo = options.queue == "tail-drop";
    const QueueSize plenty(QueueSizeUnit::PACKETS, 1000000);
    const QueueSize edge(QueueSizeUnit::PACKETS, options.edgePackets);
    const QueueSize core = fifo ? QueueSize(QueueSizeUnit::BYTES, options.limit) : QueueSize(QueueSizeUnit::PACKETS, 1);
    NodeContainer middle(2);
    NodeContainer sources(inDelays.size());
    NodeContainer destinations(inDelays.size());
    InternetStackHelper stack;
    stack.InstallAll();
    auto coreDevices = LinkOf(options.rate, options.delay, core).Install(middle.Get(0), middle.Get(1));
    DynamicCast<PointToPointNetDevice>(coreDevices.Get(1))->GetQueue()->SetMaxSize(plenty);
    Ptr<QueueDisc> disc = fifo ? nullptr : InstallRed(options, coreDevices.Get(0));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    AssignAddresses(addresses, coreDevices, fifo ? nullptr : coreDevices.Get(0));
    for (uint32_t i = 0; i < inDelays.size(); i++)
    {
        AssignAddresses(addresses, LinkOf(options.edgeRate, inDelays[i], edge).Install(sources.Get(i), middle.Get(0)), nullptr);
        AssignAddresses(addresses, LinkOf(options.edgeRate, outDelays[i], edge).Install(destinations.Get(i), middle.Get(1)), nullptr);
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    auto starts = CreateObject<UniformRandomVariable>();
    for (uint32_t i = 0; i < inDelays.size(); i++)
    {
        StartTraffic(options, sources.Get(i), destinations.Get(i), starts);
    }
    Core watched;
    watched.Watch(coreDevices.Get(0), disc);
    Simulator::Stop(Seconds(options.duration));
    Simulator::Run();
    watched.Print(options);
    Simulator::Destroy();
    return 0;
}
