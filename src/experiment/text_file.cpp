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

[[noreturn]] void refuse(const std::string& path, int error)
{
    throw InputError(fmt::format("{}: cannot be read ({}): give the path of an experiment file, for example "
                                 "experiments/crossover.toml", path, std::strerror(error)));
}

} // namespace

std::string read_text_file(const std::string& path)
{
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) refuse(path, EISDIR);

    const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
    if (!file) refuse(path, errno);

    std::string text(largest_bytes + 1, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file.get()));
    if (std::ferror(file.get())) refuse(path, errno);
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
