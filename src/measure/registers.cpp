// The most arithmetic a core can do: multiply-adds on as many independent accumulators as the longest latency times the number of
// units needs, nothing else in the loop. Compiled for each width of vectors, since the rest of the program is built
// for the least processor; the widest that this one has is chosen when it runs.

#include "measure/vectors.hpp"

#include <array>

namespace shardline {

namespace {

constexpr int64_t accumulators = 12; // two units with a latency of four or five each keep eight or ten busy

template <class T, int bytes> struct Wide {
    typedef T Vector __attribute__((vector_size(bytes)));
    static constexpr int64_t width = bytes / static_cast<int64_t>(sizeof(T));
};

template <class T, int bytes>
[[gnu::always_inline]] inline double compute(int64_t multiply_adds)
{
    using Vector = typename Wide<T, bytes>::Vector;
    constexpr int64_t width = Wide<T, bytes>::width;
    // Towards a fixed point of x·f + s: the values neither grow nor become denormal, which some processors slow down for.
    Vector x[accumulators], f, s;
    for (int64_t i = 0; i < width; ++i) f[i] = T(0.5), s[i] = T(1);
    for (int64_t k = 0; k < accumulators; ++k) x[k] = s * static_cast<T>(k + 1);
    asm volatile("" : "+m"(f), "+m"(s)); // not known to the compiler, which could otherwise sum the series
    for (int64_t done = 0; done < multiply_adds; done += accumulators * width) {
        for (int64_t k = 0; k < accumulators; ++k) x[k] = x[k] * f + s;
    }
    double sum = 0;
    for (int64_t k = 0; k < accumulators; ++k) sum += static_cast<double>(x[k][0]);
    return sum;
}

#if defined(__x86_64__)
template <class T> [[gnu::target("avx512f")]] double with_avx512(int64_t n) { return compute<T, 64>(n); }
template <class T> [[gnu::target("avx2,fma")]] double with_avx2(int64_t n) { return compute<T, 32>(n); }
#endif
template <class T> double with_least(int64_t n) { return compute<T, 16>(n); }

template <class T> double run(int64_t multiply_adds)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return with_avx512<T>(multiply_adds);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return with_avx2<T>(multiply_adds);
#endif
    return with_least<T>(multiply_adds);
}

} // namespace

double multiply_adds_in_registers(ElementType type, int64_t multiply_adds)
{
    return type == ElementType::f64 ? run<double>(multiply_adds) : run<float>(multiply_adds);
}

} // namespace shardline
