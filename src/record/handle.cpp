#include "record/handle.hpp"

#include "model/error.hpp"
#include "record/reader.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>

namespace shardline::hdf5 {
namespace {

std::optional<std::string> between(std::string_view text, std::string_view before, std::string_view after)
{
    const auto begin = text.find(before);
    if (begin == text.npos) return std::nullopt;
    const auto end = text.find(after, begin + before.size());
    if (end == text.npos) return std::nullopt;
    return std::string(text.substr(begin + before.size(), end - begin - before.size()));
}

herr_t keep_innermost(unsigned depth, const H5E_error2_t* error, void* text)
{
    if (depth == 0 && error->desc) *static_cast<std::string*>(text) = error->desc;
    return 0;
}

/// HDF5's description of what went wrong first, "" where it gave none.
std::string innermost_description()
{
    std::string text;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_innermost, &text);
    return text;
}

} // namespace

struct LibraryVersion {
    unsigned major = 0, minor = 0, release = 0;

    bool matches_headers() const
    {
        return major == H5_VERS_MAJOR && minor == H5_VERS_MINOR && release == H5_VERS_RELEASE;
    }
};

/// The first call to HDF5 of any program: it must be H5dont_atexit, which is refused once the library is up. At exit
/// HDF5 would write to files left open after a full disk, for ever where it still cannot.
static LibraryVersion library_version()
{
    static const herr_t no_exit_handler = H5dont_atexit();
    static_cast<void>(no_exit_handler);
    LibraryVersion version;
    H5get_libversion(&version.major, &version.minor, &version.release);
    return version;
}

void initialise()
{
    static const bool matches = library_version().matches_headers();
    if (!matches && !std::getenv("HDF5_DISABLE_VERSION_CHECK"))
        throw InputError(hdf5_version_text());

    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Handle access_properties()
{
    auto properties = own(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "");
#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 12, 0))
    check(H5Pset_file_locking(properties.get(), false, true), "");
#endif
    // HDF5 reads again where a checksum is wrong, as it can be for a moment while a run writes, and waits twice
    // as long each time: 2^24 ns are plenty, its default of 100 attempts is for ever.
    check(H5Pset_metadata_read_attempts(properties.get(), 24), "");
    return properties;
}

Failure last_failure(std::string_view object)
{
    const auto description = innermost_description();
    const auto number = between(description, "errno = ", ",");
    const auto message = between(description, "error message = '", "'");
    std::string text(object);
    if (!text.empty()) text += ": ";
    text += message ? *message : description.empty() ? "unknown HDF5 error" : description;
    return Failure(text, number ? std::atoi(number->c_str()) : 0);
}

} // namespace shardline::hdf5

namespace shardline {

std::string hdf5_version_text()
{
    const hdf5::LibraryVersion library = hdf5::library_version();
    auto text = fmt::format("HDF5 headers {}.{}.{}, library {}.{}.{}", H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE, library.major,
                            library.minor, library.release);
    if (!library.matches_headers())
        text += " (they differ): load the HDF5 that shardline was built with, or build it again";
    return text;
}

} // namespace shardline
