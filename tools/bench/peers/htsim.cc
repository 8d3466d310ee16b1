// A dumbbell in htsim that counts what leaves the bottleneck. Built against htsim's library and run as: htsim --key=value …
// Prints one line of JSON. All times in seconds, rates in bit/s, limits in packets. htsim has one TCP, close to NewReno, whose
// receivers acknowledge every packet.

#include "config.h"
#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "tcp.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>

namespace
{

constexpr int kPacketBytes = 1500;
constexpr double kAccessRate = 1e9;
constexpr double kAccessDelay = 1e-4;
constexpr double kLatestStart = 5.0;
constexpr double kTimerScan = 0.01;

class Bottleneck : public Queue
{
  public:
    Bottleneck(double rate, int limit, EventList& events)
        : Queue(static_cast<linkspeed_bps>(rate), static_cast<mem_b>(limit) * kPacketBytes, events, nullptr)
    {
    }

    uint64_t departures = 0;

  protected:
    void completeService() override
    {
        departures++;
        Queue::completeService();
    }
};

double Number(const std::map<std::string, std::string>& given, const char* key)
{
    const auto found = given.find(key);
    if (found == given.end())
    {
        std::fprintf(stderr, "htsim: --%s is missing\n", key);
        std::exit(2);
    }
    return std::stod(found->second);
}

} // namespace

int main(int argc, char** argv)
{
    std::map<std::string, std::string> given;
    for (int i = 1; i < argc; i++)
    {
        const std::string word = argv[i];
        const auto equals = word.find('=');
        if (word.rfind("--", 0) != 0 || equals == std::string::npos)
        {
            std::fprintf(stderr, "htsim: `%s` is not --key=value\n", argv[i]);
            return 2;
        }
        given[word.substr(2, equals - 2)] = word.substr(equals + 1);
    }
    if (given["queue"] != "tail-drop" || given["cc"] != "reno")
    {
        std::fprintf(stderr, "htsim: knows --queue=tail-drop and --cc=reno\n");
        return 2;
    }
    const double delay = Number(given, "delay");
    const double end = Number(given, "warmup") + Number(given, "duration");
    const int flows = static_cast<int>(Number(given, "flows"));

    EventList& events = EventList::getTheEventList();
    events.setEndtime(timeFromSec(end));
    Packet::set_packet_size(kPacketBytes);
    Bottleneck bottleneck(Number(given, "rate"), static_cast<int>(Number(given, "limit")), events);
    Pipe there(timeFromSec(delay), events);
    Pipe back(timeFromSec(delay), events);
    Queue returning(static_cast<linkspeed_bps>(Number(given, "rate")), memFromPkt(1000), events, nullptr);
    TcpRtxTimerScanner scanner(timeFromSec(kTimerScan), events);
    std::mt19937_64 draws(static_cast<uint64_t>(Number(given, "seed")));
    std::uniform_real_distribution<double> start(0.0, kLatestStart);
    const auto access = [&events](Route* route) {
        route->push_back(new Queue(static_cast<linkspeed_bps>(kAccessRate), memFromPkt(100000), events, nullptr));
        route->push_back(new Pipe(timeFromSec(kAccessDelay), events));
    };
    // From one end to the other over the link in the middle.
    const auto route = [&access](Queue& queue, Pipe& pipe, PacketSink* end) {
        auto* made = new Route();
        access(made);
        made->push_back(&queue);
        made->push_back(&pipe);
        access(made);
        made->push_back(end);
        return made;
    };

    for (int i = 0; i < flows; i++)
    {
        auto* source = new TcpSrc(nullptr, nullptr, events);
        auto* sink = new TcpSink();
        scanner.registerTcp(*source);
        Route* out = route(bottleneck, there, sink);
        Route* in = route(returning, back, source);
        source->connect(*out, *in, *sink, timeFromSec(start(draws)));
    }
    while (events.doNextEvent())
    {
    }
    std::printf("{\"packets\": %llu, \"drops\": %d}\n", static_cast<unsigned long long>(bottleneck.departures), bottleneck.num_drops());
    return 0;
}
