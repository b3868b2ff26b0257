#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace shardline {

/// The one pair that gets and returns the memory which MPI and BLAS touch: aligned to a page, every page
/// touched by the calling rank so that it lies on that rank's memory node. Throws std::bad_alloc.
void* allocate_buffer(size_t bytes);
void free_buffer(void* buffer);

/// Owns one such buffer.
class Buffer {
public:
    Buffer() = default;
    explicit Buffer(int64_t bytes) : data_(allocate_buffer(static_cast<size_t>(bytes))), bytes_(bytes) {}
    ~Buffer() { free_buffer(data_); }
    Buffer(Buffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0))
    {
    }
    Buffer& operator=(Buffer&& other) noexcept
    {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }

    int64_t bytes() const { return bytes_; }
    template <class T>
    T* as() const { return static_cast<T*>(data_); }

    /// At least that many bytes from now on; the content is lost when it grows.
    void grow_to(int64_t bytes)
    {
        if (bytes <= bytes_) return;
        *this = Buffer(); // give the old memory back before asking for the new
        *this = Buffer(bytes);
    }

private:
    void* data_ = nullptr;
    int64_t bytes_ = 0;
};

} // namespace shardline
