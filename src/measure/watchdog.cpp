#include "measure/watchdog.hpp"

#include "measure/clock.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace shardline {

namespace {

/// A value that another thread writes: read as it stands in memory now.
int64_t current(const int64_t& reading) { return *const_cast<const volatile int64_t*>(&reading); }

struct Part {
    std::string_view name;
    bool waits_for_others; ///< then this rank is more likely a victim than the cause
};

Part part_of(const char* phase, const Readings* readings)
{
    const std::string_view name = phase;
    if (readings == nullptr) return {name, name.starts_with("waiting")};
    const bool computed = current(readings->comp_end_ns) != -1 || current(readings->comp_begin_ns) == -1;
    if (!computed) return {"matmul", false};
    if (current(readings->comm_begin_ns) == -1) return {"barrier after the matmul", true};
    return {"communication", true};
}

} // namespace

Watchdog::Watchdog(double limit_s, int rank, std::string host)
    : limit_s_(limit_s), rank_(rank), host_(std::move(host)), entered_ns_(now_ns())
{
    if (limit_s_ > 0) thread_ = std::thread([this] { watch(); });
}

Watchdog::~Watchdog()
{
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
    }
    wake_.notify_one();
    if (thread_.joinable()) thread_.join();
}

void Watchdog::enter(const char* phase, const Readings* readings)
{
    entered_ns_.store(now_ns(), std::memory_order_relaxed);
    readings_.store(readings, std::memory_order_relaxed);
    phase_.store(phase, std::memory_order_release);
}

void Watchdog::watch()
{
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, std::chrono::seconds(1), [this] { return ended_; })) look();
}

void Watchdog::look()
{
    const Part part = part_of(phase_.load(std::memory_order_acquire), readings_.load(std::memory_order_relaxed));
    const double spent_s = static_cast<double>(now_ns() - entered_ns_.load(std::memory_order_relaxed)) * 1e-9;
    // Ranks that wait give the one that hangs the first word, and then speak one after another, so that one does.
    const double patience_s = part.waits_for_others ? 3 + 2.0 * rank_ : 0;
    if (spent_s < limit_s_ + patience_s) return;
    std::fprintf(stderr,
                 "shardline-run: rank %d on %s hangs in the phase \"%.*s\" (%.0f s, the limit is %.0f s): the job ends, what "
                 "was recorded before is in the file; raise watchdog_s if such times are normal here\n",
                 rank_, host_.c_str(), static_cast<int>(part.name.size()), part.name.data(), spent_s, limit_s_);
    std::fflush(stderr);
    std::_Exit(1); // the launcher ends the other ranks; MPI may be what hangs, so it is not asked
}

} // namespace shardline
