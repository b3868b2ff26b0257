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

static constexpr Version headers{H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE};

/// The first call to HDF5 of any program: it must be H5dont_atexit, which is refused once the library is up. At exit
/// HDF5 would write to files left open after a full disk, for ever where it still cannot.
static Version library()
{
    static const herr_t no_exit_handler = H5dont_atexit();
    static_cast<void>(no_exit_handler);
    Version version;
    H5get_libversion(&version.major_number, &version.minor_number, &version.release);
    return version;
}

std::string describe(Version of_headers, Version of_library)
{
    const auto text_of = [](Version v) { return fmt::format("{}.{}.{}", v.major_number, v.minor_number, v.release); };
    auto text = fmt::format("HDF5 headers {}, library {}", text_of(of_headers), text_of(of_library));
    if (of_headers != of_library)
        text += " (they differ): load the HDF5 that shardline was built with, or build shardline again";
    return text;
}

void initialise()
{
    static const Version found = library();
    if (found != headers && !std::getenv("HDF5_DISABLE_VERSION_CHECK")) throw InputError(describe(headers, found));
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

bool locking_is_forced()
{
    const char* value = std::getenv("HDF5_USE_FILE_LOCKING");
    return value && std::string_view(value) != "FALSE" && std::string_view(value) != "0";
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

std::string shardline::hdf5_version_text() { return hdf5::describe(hdf5::headers, hdf5::library()); }
