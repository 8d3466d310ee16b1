// What both ns-3 programs here see of a link's queue: the device's own, with the discipline before it if there is one.

#pragma once

#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdint>
#include <string>

// The time integral of a queue's length; what becomes of its packets is for the program that derives from it to count.
class QueueWatch
{
  public:
    // Lengths in the unit of this trace: PacketsInQueue or BytesInQueue.
    explicit QueueWatch(std::string length)
        : m_length(std::move(length))
    {
    }

    virtual ~QueueWatch() = default;

    void Watch(ns3::Ptr<ns3::NetDevice> netDevice, ns3::Ptr<ns3::QueueDisc> disc)
    {
        auto device = ns3::DynamicCast<ns3::PointToPointNetDevice>(netDevice);
        auto fifo = device->GetQueue();
        device->TraceConnectWithoutContext("PhyTxBegin", ns3::MakeCallback(&QueueWatch::Departed, this));
        fifo->TraceConnectWithoutContext(m_length, ns3::MakeCallback(&QueueWatch::FifoLength, this));
        if (disc)
        {
            disc->TraceConnectWithoutContext("Enqueue", ns3::MakeCallback(&QueueWatch::DiscEntered, this));
            disc->TraceConnectWithoutContext("Drop", ns3::MakeCallback(&QueueWatch::DiscDropped, this));
            disc->TraceConnectWithoutContext("Mark", ns3::MakeCallback(&QueueWatch::DiscMarked, this));
            disc->TraceConnectWithoutContext(m_length, ns3::MakeCallback(&QueueWatch::DiscLength, this));
        }
        else
        {
            // Without a discipline a full device queue is reported by the layer above it.
            fifo->TraceConnectWithoutContext("Enqueue", ns3::MakeCallback(&QueueWatch::Entered, this));
            fifo->TraceConnectWithoutContext("Drop", ns3::MakeCallback(&QueueWatch::FifoDropped, this));
            auto layer = device->GetNode()->GetObject<ns3::TrafficControlLayer>();
            layer->TraceConnectWithoutContext("TcDrop", ns3::MakeCallback(&QueueWatch::FifoDropped, this));
        }
    }

    // Length times seconds since the start.
    double GetArea()
    {
        const double now = ns3::Simulator::Now().GetSeconds();
        m_area += GetLength() * (now - m_since);
        m_since = now;
        return m_area;
    }

    uint32_t GetLength() const
    {
        return m_inFifo + m_inDisc;
    }

  protected:
    // A packet's transmission begins.
    virtual void Departed(ns3::Ptr<const ns3::Packet> packet) = 0;

    virtual void Dropped(ns3::Ptr<const ns3::Packet> packet, uint32_t bytes) = 0;

    virtual void Entered(ns3::Ptr<const ns3::Packet>)
    {
    }

    virtual void Marked()
    {
    }

  private:
    void DiscEntered(ns3::Ptr<const ns3::QueueDiscItem> item)
    {
        Entered(item->GetPacket());
    }

    void FifoDropped(ns3::Ptr<const ns3::Packet> packet)
    {
        Dropped(packet, packet->GetSize());
    }

    void DiscDropped(ns3::Ptr<const ns3::QueueDiscItem> item)
    {
        Dropped(item->GetPacket(), item->GetSize());
    }

    void DiscMarked(ns3::Ptr<const ns3::QueueDiscItem>, const char*)
    {
        Marked();
    }

    void FifoLength(uint32_t, uint32_t now)
    {
        GetArea();
        m_inFifo = now;
    }

    void DiscLength(uint32_t, uint32_t now)
    {
        GetArea();
        m_inDisc = now;
    }

    std::string m_length;
    uint32_t m_inFifo = 0;
    uint32_t m_inDisc = 0;
    double m_area = 0;
    double m_since = 0;
};

// How to link two nodes, whose devices hold so much each; rate in bit/s, delay in seconds.
inline ns3::PointToPointHelper
LinkOf(double rate, double delay, const ns3::QueueSize& size)
{
    ns3::PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", ns3::DataRateValue(ns3::DataRate(static_cast<uint64_t>(rate))));
    link.SetChannelAttribute("Delay", ns3::TimeValue(ns3::Seconds(delay)));
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", ns3::QueueSizeValue(size));
    return link;
}

// Address assignment puts a default discipline on every device; this takes it away again where it is not the one that was asked for.
inline void
RemoveDiscipline(ns3::Ptr<ns3::NetDevice> device)
{
    auto layer = device->GetNode()->GetObject<ns3::TrafficControlLayer>();
    if (layer && layer->GetRootQueueDiscOnDevice(device))
    {
        ns3::TrafficControlHelper().Uninstall(device);
    }
}
