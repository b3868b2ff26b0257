#include "measure/comm_thread.hpp"

#include "measure/clock.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace shardline {

namespace {

/// Asks for a short time slice, which any user may: the scheduler then lets this thread in as soon as it wakes (Linux 6.12),
/// and not when the matmul's slice of some milliseconds has ended. Elsewhere it stays as it was.
void ask_for_short_slice()
{
    struct { // struct sched_attr, for which glibc has no header
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime_ns, deadline_ns, period_ns;
    } attributes{};
    attributes.size = sizeof attributes;
    attributes.policy = SCHED_OTHER;
    attributes.nice = getpriority(PRIO_PROCESS, 0);
    attributes.runtime_ns = 100'000;
    syscall(SYS_sched_setattr, 0, &attributes, 0u);
}

} // namespace

CommThread::CommThread(SegmentedRing& ring, int64_t poll_sleep_us)
    : ring_(ring), poll_sleep_us_(poll_sleep_us), thread_([this] { work(); })
{
}

CommThread::~CommThread()
{
    quit_ = true;
    begun_ += 1;
    begun_.notify_one();
    thread_.join();
}

void CommThread::begin(const void* send, void* receive, int64_t tiles, Polling polling)
{
    send_ = send;
    receive_ = receive;
    tiles_ = tiles;
    polling_ = polling;
    ready_.store(0, std::memory_order_relaxed);
    awaited_.store(false, std::memory_order_relaxed);
    begun_.fetch_add(1, std::memory_order_release);
    begun_.notify_one();
}

void CommThread::tile_ready()
{
    ready_.fetch_add(1, std::memory_order_release);
    ready_.notify_one();
}

void CommThread::finish()
{
    awaited_.store(true, std::memory_order_release);
    const uint32_t wanted = begun_.load(std::memory_order_relaxed);
    for (uint32_t ended = ended_.load(std::memory_order_acquire); ended != wanted; ended = ended_.load(std::memory_order_acquire))
        ended_.wait(ended, std::memory_order_acquire);
}

void CommThread::work()
{
    prctl(PR_SET_TIMERSLACK, 1UL); // else the kernel rounds short sleeps up by 50 µs
    ask_for_short_slice();
    for (uint32_t done = 0;; ++done) {
        begun_.wait(done, std::memory_order_acquire);
        if (quit_) return;
        const int64_t before_ns = thread_cpu_ns();
        reduce();
        cpu_ns_ = thread_cpu_ns() - before_ns;
        ended_.store(done + 1, std::memory_order_release);
        ended_.notify_one();
    }
}

void CommThread::reduce()
{
    const timespec sleep{poll_sleep_us_ / 1'000'000, poll_sleep_us_ % 1'000'000 * 1000};
    ring_.begin(send_, receive_);
    int64_t started = 0;
    while (true) {
        for (const int64_t ready = ready_.load(std::memory_order_acquire); started < ready; ++started) ring_.start_tile();
        if (ring_.progress() && started == tiles_) return;
        if (polling_ == Polling::sleep_then_spin && started == tiles_ && awaited_.load(std::memory_order_acquire)) return ring_.finish();
        if (ring_.idle())
            ready_.wait(started, std::memory_order_acquire); // nothing to look after before the next tile
        else
            nanosleep(&sleep, nullptr);
    }
}

} // namespace shardline
