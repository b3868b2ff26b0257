#include "model/allreduce_rates.hpp"

#include "model/law.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace shardline {

namespace {

using Key = std::tuple<int32_t, ElementType, std::string, int64_t, bool>; ///< P, wire type, strategy, V, in sweep

bool communicates(const Point& point)
{
    return (point.kind == PointKind::allreduce || point.kind == PointKind::crossover) && point.P >= 2 && point.message_bytes > 0;
}

} // namespace

std::vector<AllreduceRate> allreduce_rates(std::span<const PointSamples> points)
{
    std::map<Key, std::vector<const Series*>> series;
    for (const PointSamples& samples : points) {
        const Point& point = samples.point;
        if (!communicates(point) || samples.comm_s.empty()) continue;
        series[{point.P, point.wire_type, point.strategy, point.message_bytes, point.kind == PointKind::crossover}].push_back(&samples.comm_s);
    }
    std::vector<AllreduceRate> rates;
    for (const auto& [key, parts] : series) {
        AllreduceRate rate;
        std::tie(rate.P, rate.wire_type, rate.strategy, rate.V_bytes, rate.in_sweep) = key;
        rate.t_s = *estimate_of(pooled(parts));
        // What a link of 1 byte/s would need is the number of bytes that a rank has to send.
        rate.bus_bytes_per_s = rate_from(allreduce_bandwidth_bound_s(static_cast<double>(rate.V_bytes), rate.P, 1), rate.t_s);
        rates.push_back(std::move(rate));
    }
    return rates;
}

} // namespace shardline
