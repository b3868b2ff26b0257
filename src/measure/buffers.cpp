#include "measure/buffers.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace shardline {

void* allocate_buffer(size_t bytes)
{
    constexpr size_t page = 4096;
    const size_t whole_pages = (bytes + page - 1) / page * page;
    void* buffer = std::aligned_alloc(page, whole_pages == 0 ? page : whole_pages);
    if (buffer == nullptr) throw std::bad_alloc();
    std::memset(buffer, 0, whole_pages);
    return buffer;
}

void free_buffer(void* buffer) { std::free(buffer); }

} // namespace shardline
