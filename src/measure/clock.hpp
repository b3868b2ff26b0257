#pragma once

#include <cstdint>
#include <ctime>

namespace shardline {

/// The one place that reads the clock: integer nanoseconds of this rank's monotonic clock.
inline int64_t now_ns()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// CPU time that the calling thread has had, ns.
inline int64_t thread_cpu_ns()
{
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

} // namespace shardline
