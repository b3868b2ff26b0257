#include "experiment/text_file.hpp"

#include "model/error.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <memory>

namespace shardline {
namespace {

constexpr size_t largest_bytes = 1 << 20;

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

[[noreturn]] void refuse(const std::string& path, const char* why)
{
    throw InputError(fmt::format("{}: cannot be read ({}): give the path of an experiment file, for example "
                                 "experiments/crossover.toml", path, why));
}

} // namespace

std::string read_text_file(const std::string& path)
{
    // A pipe would be waited for, and a device read for ever.
    std::error_code error;
    const std::filesystem::file_type type = std::filesystem::status(path, error).type();
    if (type == std::filesystem::file_type::directory) refuse(path, "it is a folder");
    const bool exists = type != std::filesystem::file_type::none && type != std::filesystem::file_type::not_found;
    if (exists && type != std::filesystem::file_type::regular) refuse(path, "it is a device or pipe");

    const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
    if (!file) refuse(path, std::strerror(errno));

    std::string text(largest_bytes + 1, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file.get()));
    if (std::ferror(file.get())) refuse(path, std::strerror(errno));
    if (text.starts_with("\x89HDF"))
        throw InputError(fmt::format("{}: is an HDF5 file (an experiment is a TOML text): to read results, use "
                                     "'shardline report'", path));
    if (text.find('\0') != std::string::npos)
        throw InputError(fmt::format("{}: is a binary file (an experiment is a TOML text): give the path of an "
                                     "experiment file, for example experiments/crossover.toml", path));
    if (text.size() > largest_bytes)
        throw InputError(fmt::format("{}: is larger than 1 MiB (an experiment takes a few lines): give the path of an "
                                     "experiment file, for example experiments/crossover.toml", path));
    return text;
}

} // namespace shardline
