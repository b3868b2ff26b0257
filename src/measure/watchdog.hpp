#pragma once

#include "measure/timed_step.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace shardline {

/// Ends the job when this rank stays too long in one phase, and says which rank, host and phase it was. Its thread
/// sleeps and looks once a second; the measuring thread pays two stores for a repetition, outside the timed region.
class Watchdog {
public:
    /// A limit of 0 s: never.
    Watchdog(double limit_s, int rank, std::string host);
    ~Watchdog();
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

    /// The limit counts from here. `phase` must outlive the phase (a literal); `readings` of a timed region tell
    /// which of its parts has begun.
    void enter(const char* phase, const Readings* readings = nullptr);

private:
    void watch();
    void look();

    double limit_s_;
    int rank_;
    std::string host_;
    std::atomic<const char*> phase_{"starting"};
    std::atomic<const Readings*> readings_{nullptr};
    std::atomic<int64_t> entered_ns_;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool ended_ = false;
    std::thread thread_;
};

} // namespace shardline
