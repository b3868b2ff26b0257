#include "postprocess/output.hpp"

#include "model/error.hpp"
#include "postprocess/printable.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
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

/// Whether writing to `path` would lose something that this program cannot make again: an experiment, a run, a script. What is not
/// there, empty, a pipe or a device is not.
bool holds_something_else(const std::string& path)
{
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) return false;
    const File file(std::fopen(path.c_str(), "rb"));
    if (!file) return true; // who knows
    char start[64] = {};
    const std::string_view begin(start, std::fread(start, 1, sizeof start, file.get()));
    return !begin.empty() && !begin.starts_with("{\n  \"schema\": \"shardline-");
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
    if (holds_something_else(path))
        throw InputError(fmt::format("{}: exists and is no JSON of shardline's (it would be lost): give another path for the JSON", path));
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
