#include "disk.hpp"

#include <sys/syscall.h>
#include <unistd.h>

namespace shardline::test::disk {
namespace {

Pwrite write_hook;
Ftruncate truncate_hook;

} // namespace

Interposed::Interposed(Pwrite write, Ftruncate truncate)
{
    write_hook = std::move(write);
    truncate_hook = std::move(truncate);
}

Interposed::~Interposed()
{
    write_hook = nullptr;
    truncate_hook = nullptr;
}

ssize_t really_pwrite(int descriptor, const char* bytes, size_t count, off_t offset)
{
    return ::syscall(SYS_pwrite64, descriptor, bytes, count, offset);
}

int really_ftruncate(int descriptor, off_t length) { return static_cast<int>(::syscall(SYS_ftruncate, descriptor, length)); }

} // namespace shardline::test::disk

using namespace shardline::test;

extern "C" ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset)
{
    const auto* data = static_cast<const char*>(bytes);
    return disk::write_hook ? disk::write_hook(descriptor, data, count, offset)
                            : disk::really_pwrite(descriptor, data, count, offset);
}

extern "C" int ftruncate(int descriptor, off_t length) noexcept
{
    return disk::truncate_hook ? disk::truncate_hook(descriptor, length) : disk::really_ftruncate(descriptor, length);
}
