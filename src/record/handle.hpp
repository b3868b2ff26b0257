#pragma once

// HDF5 identifiers and errors in C++ terms. Only sources of src/record include this.

#include <hdf5.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace shardline::hdf5 {

/// A failed HDF5 call. what() is "OBJECT: innermost reason"; error_number the errno behind it, or 0.
struct Failure : std::runtime_error {
    Failure(const std::string& text, int error) : std::runtime_error(text), error_number(error) {}
    int error_number;
};

struct Version {
    unsigned major_number = 0, minor_number = 0, release = 0;
    bool operator==(const Version&) const = default;
};

/// "HDF5 headers 1.10.8, library 1.10.8", and what to do where they differ.
std::string describe(Version headers, Version library);

/// Silences HDF5's own printing and keeps it from touching files when the process exits. Every public
/// function of src/record calls it first. Throws InputError where library and headers differ, which
/// HDF5 itself would answer with abort().
void initialise();

/// Owns one HDF5 identifier.
class Handle {
public:
    using Close = herr_t (*)(hid_t);

    Handle() = default;
    Handle(hid_t id, Close close) : id_(id), close_(close) {}
    Handle(Handle&& other) noexcept : id_(other.release()), close_(other.close_) {}
    Handle& operator=(Handle&& other) noexcept
    {
        if (this != &other) {
            reset();
            close_ = other.close_;
            id_ = other.release();
        }
        return *this;
    }
    ~Handle() { reset(); }

    hid_t get() const { return id_; }
    explicit operator bool() const { return id_ >= 0; }

    /// Closes; negative where HDF5 refused.
    herr_t reset() { return id_ < 0 ? 0 : close_(std::exchange(id_, H5I_INVALID_HID)); }
    /// Gives the identifier up unclosed.
    hid_t release() { return std::exchange(id_, H5I_INVALID_HID); }

private:
    hid_t id_ = H5I_INVALID_HID;
    Close close_ = nullptr;
};

/// File access without HDF5's own locks: they fail on file systems that know none, and are dropped under
/// SWMR anyway. A writer holds WriterLock; a reader needs no lock.
Handle access_properties();

/// Whether the environment makes HDF5 lock files it opens nevertheless, for the time of opening.
bool locking_is_forced();

/// The failure on top of HDF5's error stack, told of `object`.
Failure last_failure(std::string_view object);

/// Takes ownership of what an HDF5 call returned. Throws Failure about `object` where it failed.
inline Handle own(hid_t id, Handle::Close close, std::string_view object)
{
    if (id < 0) throw last_failure(object);
    return Handle(id, close);
}

/// Throws Failure about `object` where an HDF5 call returned an error.
inline void check(herr_t status, std::string_view object)
{
    if (status < 0) throw last_failure(object);
}

} // namespace shardline::hdf5
