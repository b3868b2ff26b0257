#pragma once

// The name under which a run is recorded: checked, locked and given to the file once that is laid out.

#include "record/writer.hpp"

#include <string>
#include <string_view>

namespace shardline {

/// "No space left on device" for ENOSPC, and so on.
std::string errno_text(int error);

/// What a user can do about an errno of a file that is to be written.
std::string_view remedy(int error);

/// A lock that the writer of a file holds. Readers share it; a second writer, h5clear and `h5py.File(path, "r+")` do not
/// get in. Where the file system knows no locks it protects nothing.
class WriterLock {
public:
    WriterLock() = default;
    /// Throws InputError where another program uses the file, or it cannot be opened for writing.
    explicit WriterLock(const std::string& path);
    WriterLock(WriterLock&& other) noexcept;
    WriterLock& operator=(WriterLock&& other) noexcept;
    ~WriterLock();

    /// Hands everything written so far to the disk; an errno, or 0.
    int synchronise() const;
    /// Nothing leads to the file any more: it, or its folder, was removed, and it goes with this process.
    bool file_is_removed() const;
    /// Copies the file to a new one of that name. False where that exists or takes not all of it.
    bool copy_to(const std::string& path) const;
    void release();

private:
    int descriptor_ = -1;
};

/// A file being laid out under a temporary name beside its own, so that its own name never holds half
/// a file, and an older file of that name is lost only when the new one is there.
class OutputFile {
public:
    /// Creates the temporary file. Throws InputError where `path` exists (unless allowed), is no
    /// regular file, is in use, or its folder takes no file.
    OutputFile(const std::string& path, Overwrite overwrite);
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;
    ~OutputFile(); ///< removes the temporary file unless it was published

    const std::string& temporary_path() const { return temporary_; }
    /// Gives the file its own name. Throws InputError where that was taken in the meantime.
    void publish();

private:
    void publish_unless_taken();

    std::string path_, target_, temporary_; ///< as given; what it stands for; until it is published
    Overwrite overwrite_;
    bool published_ = false;
};

} // namespace shardline
