#pragma once

#include "measure/segmented_ring.hpp"

#include <atomic>
#include <cstdint>
#include <thread>

namespace shardline {

/// How the thread waits for the network.
enum class Polling {
    sleep,           ///< between looks, always: its CPU time is that of the communication
    sleep_then_spin, ///< sleeps while the other thread computes, and takes the core when that waits
};

/// A thread that moves a SegmentedRing on while another one computes. While a reduction is under way it makes all the
/// MPI calls of this rank, so that MPI_THREAD_SERIALIZED suffices. Between looks it sleeps: on the only core of a rank
/// every moment it is awake is taken from the matmul.
class CommThread {
public:
    CommThread(SegmentedRing& ring, int64_t poll_sleep_us);
    ~CommThread();
    CommThread(const CommThread&) = delete;
    CommThread& operator=(const CommThread&) = delete;

    /// Begins a reduction of `tiles` tiles; see SegmentedRing::begin.
    void begin(const void* send, void* receive, int64_t tiles, Polling polling);
    /// One more tile of `send` may be read.
    void tile_ready();
    /// Waits for the end of the reduction.
    void finish();

    /// CPU time of the thread in the last reduction, ns.
    int64_t cpu_ns() const { return cpu_ns_; }

private:
    void work();
    void reduce();

    SegmentedRing& ring_;
    int64_t poll_sleep_us_;
    const void* send_ = nullptr;
    void* receive_ = nullptr;
    int64_t tiles_ = 0;
    Polling polling_ = Polling::sleep;
    int64_t cpu_ns_ = 0;
    std::atomic<int64_t> ready_{0};      ///< tiles
    std::atomic<bool> awaited_{false};   ///< the other thread has nothing else to do
    std::atomic<uint32_t> begun_{0}, ended_{0}; ///< reductions
    std::atomic<bool> quit_{false};
    std::thread thread_;
};

} // namespace shardline
