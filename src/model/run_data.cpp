#include "model/run_data.hpp"

#include <algorithm>
#include <tuple>

namespace shardline {

namespace {

auto key_of(const Point& p)
{
    const int64_t segment_bytes = p.kind == PointKind::exchange ? p.segment_bytes : 0;
    return std::tuple(p.kind, p.B, p.D, p.F, p.P, p.message_bytes, segment_bytes, p.compute_type, p.wire_type,
                      std::string_view(p.strategy), p.round, std::string_view(p.algorithm));
}

} // namespace

std::strong_ordering operator<=>(const Point& a, const Point& b) { return key_of(a) <=> key_of(b); }
bool operator==(const Point& a, const Point& b) { return key_of(a) == key_of(b); }

void append(Repetitions& repetitions, const Repetitions& more)
{
    const auto add = [&](auto column) { (repetitions.*column).insert((repetitions.*column).end(), (more.*column).begin(), (more.*column).end()); };
    add(&Repetitions::point);
    add(&Repetitions::mode);
    add(&Repetitions::pass);
    add(&Repetitions::repetition);
    add(&Repetitions::warmup);
    add(&Repetitions::late);
    add(&Repetitions::start_skew_ns);
    add(&Repetitions::comp_begin_ns);
    add(&Repetitions::comp_end_ns);
    add(&Repetitions::comm_begin_ns);
    add(&Repetitions::comm_end_ns);
    add(&Repetitions::main_cpu_ns);
    add(&Repetitions::comm_cpu_ns);
    add(&Repetitions::peer);
    add(&Repetitions::rank);
    add(&Repetitions::comp_mean_ns);
}

std::string_view name_of(PointKind kind) { return kind_names[static_cast<size_t>(kind)]; }

std::string_view name_of(Severity severity)
{
    switch (severity) {
    case Severity::note: return "note";
    case Severity::warning: return "warning";
    case Severity::invalid: return "invalid";
    }
    return "";
}

bool holds(const std::vector<Finding>& findings, const Finding& finding)
{
    return std::ranges::any_of(findings, [&](const Finding& other) { return other.code == finding.code && other.text == finding.text; });
}

std::string_view name_of(RunStatus status)
{
    switch (status) {
    case RunStatus::running: return "running";
    case RunStatus::complete: return "complete";
    case RunStatus::stopped: return "stopped";
    case RunStatus::failed: return "failed";
    }
    return "";
}

} // namespace shardline
