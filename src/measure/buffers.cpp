#include "measure/buffers.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace shardline {

void* allocate_buffer(size_t bytes)
{
    constexpr size_t page = 4096;
    const size_t whole_pages = (bytes + page - 1) / page * page;
    void* buffer = std::aligned_alloc(page, whole_pages == 0 ? page : whole_pages);
    if (buffer == nullptr)
        throw std::runtime_error(fmt::format("cannot allocate {:.1f} MB (the memory was there when the run began): lower B, F or D, or use "
                                             "fewer ranks on each node",
                                             static_cast<double>(whole_pages) / 1e6));
    std::memset(buffer, 0, whole_pages);
    return buffer;
}

void free_buffer(void* buffer) { std::free(buffer); }

} // namespace shardline
