#include "record/output_file.hpp"

#include "model/error.hpp"
#include "record/reader.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace shardline {
namespace {

[[noreturn]] void refuse(const std::string& path, std::string_view why, std::string_view suggestion)
{
    throw InputError(fmt::format("cannot write {} ({}): {}", path, why, suggestion));
}

std::optional<struct stat> status_of(const std::string& path)
{
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0) return status;
    return std::nullopt;
}

std::string folder_of(const std::string& path)
{
    const auto folder = std::filesystem::path(path).parent_path().string();
    return folder.empty() ? "." : folder;
}

[[noreturn]] void refuse_folder(const std::string& path, int error)
{
    refuse(path, fmt::format("folder {}: {}", folder_of(path), errno_text(error)), remedy(error));
}

/// The file a symbolic link stands for, so that the link outlives an overwrite.
std::string resolved(const std::string& path)
{
    std::error_code error;
    const auto real = std::filesystem::weakly_canonical(path, error);
    return error ? path : real.string();
}

void check_folder(const std::string& path)
{
    const auto folder = folder_of(path);
    const auto status = status_of(folder);
    if (!status) refuse_folder(path, errno);
    if (!S_ISDIR(status->st_mode)) refuse(path, folder + " is not a folder", "choose another name");
}

void check_replaceable(const std::string& path, const struct stat& status, Overwrite overwrite)
{
    if (S_ISDIR(status.st_mode)) refuse(path, "it is a folder", "name a file in it");
    if (!S_ISREG(status.st_mode)) refuse(path, "it is a device or pipe", "name a file that can be created");
    if (overwrite == Overwrite::refuse)
        refuse(path, "it exists", "choose another name, or replace it with --force");
    const WriterLock nobody_uses_it(path);
}

bool is_locked(int error) { return error == EWOULDBLOCK; }

/// Whether the lock could be taken, with errno where not. HDF5 locks a file while it opens it, for readers too, and so does
/// is_being_written: that is over in a moment, and no reason to refuse a run.
bool lock_within_a_second(int descriptor, int kind)
{
    constexpr int tries = 20;
    constexpr useconds_t pause_us = 50'000;
    for (int left = tries; ::flock(descriptor, kind | LOCK_NB) != 0; --left) {
        if (!is_locked(errno) || left == 0) return false;
        ::usleep(pause_us);
    }
    return true;
}

} // namespace

std::string errno_text(int error) { return std::generic_category().message(error); }

std::string_view remedy(int error)
{
    switch (error) {
    case ENOSPC: return "free space on this disk, or write to another one";
    case EDQUOT: return "your quota is used up: remove files, or write to another disk";
    case EFBIG: return "raise the limit on file sizes (ulimit -f), or record fewer repetitions";
    case EACCES:
    case EPERM: return "change its permissions, or write to another folder";
    case EROFS: return "this file system is read-only: write to another folder";
    case ENOENT: return "create the folder first";
    case ENOTDIR: return "part of the path is a file: check the path";
    case EISDIR: return "name a file in it";
    case EEXIST: return "choose another name";
    case ENAMETOOLONG: return "choose a shorter name";
    case ENOLCK:
    case ENOSYS:
    case EAGAIN:
        return "the file system refuses file locks: set HDF5_USE_FILE_LOCKING=FALSE in the environment, or write to a "
               "local disk";
    default: return "check the disk, or write to another one";
    }
}

WriterLock::WriterLock(const std::string& path) : descriptor_(::open(path.c_str(), O_RDWR | O_CLOEXEC))
{
    if (descriptor_ < 0) refuse(path, errno_text(errno), remedy(errno));
    // Alone for a moment, to learn that nobody else has it; then shared, for readers.
    for (const int kind : {LOCK_EX, LOCK_SH}) {
        if (lock_within_a_second(descriptor_, kind)) continue;
        if (!is_locked(errno)) return;
        release();
        refuse(path, "another program has it open", "wait until that has finished, or choose another name");
    }
}

bool is_being_written(const std::string& path)
{
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) return false;
    const bool locked = ::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && is_locked(errno);
    ::close(descriptor);
    return locked;
}

WriterLock::WriterLock(WriterLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

WriterLock& WriterLock::operator=(WriterLock&& other) noexcept
{
    if (this != &other) {
        release();
        descriptor_ = std::exchange(other.descriptor_, -1);
    }
    return *this;
}

WriterLock::~WriterLock() { release(); }

int WriterLock::synchronise() const
{
    const bool written = descriptor_ < 0 || ::fsync(descriptor_) == 0 || errno == EINVAL;
    return written ? 0 : errno;
}

bool WriterLock::file_is_removed() const
{
    struct stat status {};
    return descriptor_ >= 0 && ::fstat(descriptor_, &status) == 0 && status.st_nlink == 0;
}

bool WriterLock::copy_to(const std::string& path) const
{
    const int copy = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (copy < 0) return false;
    std::vector<char> buffer(1 << 20);
    off_t at = 0;
    ssize_t n = 0;
    bool whole = true;
    while (whole && (n = ::pread(descriptor_, buffer.data(), buffer.size(), at)) > 0) {
        whole = ::write(copy, buffer.data(), static_cast<size_t>(n)) == n;
        at += n;
    }
    whole = whole && n == 0 && ::fsync(copy) == 0;
    ::close(copy);
    if (!whole) ::unlink(path.c_str());
    return whole;
}

void WriterLock::release()
{
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

OutputFile::OutputFile(const std::string& path, Overwrite overwrite)
    : path_(path), target_(resolved(path)), overwrite_(overwrite)
{
    check_folder(path_);
    if (const auto status = status_of(path_))
        check_replaceable(path_, *status, overwrite);
    else if (std::error_code ignored; std::filesystem::is_symlink(path_, ignored))
        refuse(path_, "it is a symbolic link to nothing", "remove it, or name the file itself");
    for (int attempt = 0;; ++attempt) {
        temporary_ = fmt::format("{}.{}.{}.tmp", target_, ::getpid(), attempt);
        const int descriptor = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0) {
            ::close(descriptor);
            return;
        }
        if (errno != EEXIST) refuse_folder(path_, errno);
    }
}

OutputFile::~OutputFile()
{
    if (!published_) ::unlink(temporary_.c_str());
}

void OutputFile::publish()
{
    if (overwrite_ == Overwrite::refuse)
        publish_unless_taken();
    else if (::rename(temporary_.c_str(), target_.c_str()) != 0)
        refuse(path_, errno_text(errno), remedy(errno));
    published_ = true;
}

void OutputFile::publish_unless_taken()
{
    // A hard link is the one way to take a name that fails where it is taken, on every file system
    // that has hard links; elsewhere the name is reserved by an empty file first.
    if (::link(temporary_.c_str(), target_.c_str()) == 0) {
        ::unlink(temporary_.c_str());
        return;
    }
    const int reserved = errno == EEXIST ? -1 : ::open(target_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (reserved < 0) refuse(path_, errno_text(errno), remedy(errno));
    ::close(reserved);
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) refuse(path_, errno_text(errno), remedy(errno));
}

} // namespace shardline
