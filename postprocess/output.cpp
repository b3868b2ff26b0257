#include "postprocess/output.hpp"

#include "model/error.hpp"
#include "postprocess/printable.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <sys/ioctl.h>
#include <unistd.h>

namespace shardline {
namespace {

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

bool is_hdf5_file(const std::string& path)
{
    char start[8] = {};
    const File file(std::fopen(path.c_str(), "rb"));
    return file && std::fread(start, 1, sizeof start, file.get()) == sizeof start &&
           std::memcmp(start, "\x89HDF\r\n\x1a\n", sizeof start) == 0;
}

} // namespace

void write_standard_output(std::string_view text)
{
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (!written)
        throw InputError(fmt::format("standard output cannot be written ({}): the result is lost, run again", std::strerror(errno)));
}

void write_file(const std::string& path, std::string_view text)
{
    if (is_hdf5_file(path))
        throw InputError(fmt::format("{}: is an HDF5 file (which would be lost): give another path for the JSON", path));
    File file(std::fopen(path.c_str(), "wb"));
    const bool written = file && std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() && std::fflush(file.get()) == 0;
    if (!written || std::fclose(file.release()) != 0) // network file systems tell of a full disk at the end
        throw InputError(fmt::format("{}: cannot be written ({}): give another path, or - for standard output", path,
                                     std::strerror(errno)));
}

void print_message(std::string_view message)
{
    const std::string line = fmt::format("shardline: {}\n", printable(message));
    std::fwrite(line.data(), 1, line.size(), stderr);
}

bool colour_wanted()
{
    const auto variable = [](const char* name) -> std::string_view {
        const char* value = std::getenv(name);
        return value ? value : "";
    };
    return isatty(STDOUT_FILENO) == 1 && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
}

int terminal_width()
{
    constexpr int usual = 80;
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return usual;
    return size.ws_col;
}

} // namespace shardline
