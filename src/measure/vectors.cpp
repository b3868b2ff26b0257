#include "measure/vectors.hpp"

#include <algorithm>

namespace shardline {

void prepare(Vectors& v, int64_t elements, ElementType type)
{
    v.elements = elements;
    v.type = type;
    const int64_t bytes = elements * bytes_of(type);
    if (bytes <= v.a.bytes()) return; // whatever the type, what b and c hold is a number that costs no more than others
    for (Buffer* buffer : {&v.a, &v.b, &v.c}) buffer->grow_to(bytes);
    std::fill_n(v.b.as<double>(), bytes / int64_t{sizeof(double)}, 1.0);
    std::fill_n(v.c.as<double>(), bytes / int64_t{sizeof(double)}, 2.0);
}

void evict_caches(Vectors& v)
{
    constexpr int64_t cache_line = 64 / sizeof(int64_t);
    const int64_t* words = v.b.as<const int64_t>();
    int64_t sum = 0;
    for (int64_t i = 0; i < v.elements * bytes_of(v.type) / int64_t{8}; i += cache_line) sum += words[i];
    v.sink = static_cast<double>(sum);
}

} // namespace shardline
