#pragma once

// The calls by which HDF5 changes a file, seen and answered by a test: this program's pwrite and ftruncate
// stand before those of the C library.

#include <functional>

#include <sys/types.h>

namespace shardline::test::disk {

/// Bytes taken, or -1 with errno set.
using Pwrite = std::function<ssize_t(int descriptor, const char* bytes, size_t count, off_t offset)>;
using Ftruncate = std::function<int(int descriptor, off_t length)>;

/// While it lives, writes go through these.
class Interposed {
public:
    Interposed(Pwrite write, Ftruncate truncate);
    ~Interposed();
    Interposed(const Interposed&) = delete;
    Interposed& operator=(const Interposed&) = delete;
};

/// What the system does.
ssize_t really_pwrite(int descriptor, const char* bytes, size_t count, off_t offset);
int really_ftruncate(int descriptor, off_t length);

} // namespace shardline::test::disk
