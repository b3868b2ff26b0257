#include "postprocess/output.hpp"

#include "model/error.hpp"
#include "postprocess/junit.hpp"
#include "postprocess/text_layout.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>
#include <vector>

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
    char start[128] = {};
    const std::string_view begin(start, std::fread(start, 1, sizeof start, file.get()));
    const bool ours = begin.starts_with("{\n  \"schema\": \"shardline-") || begin.starts_with(junit_beginning);
    return !begin.empty() && !ours;
}

/// Of the environment; empty where it is not set.
std::string_view variable(const char* name)
{
    const char* value = std::getenv(name);
    return value ? value : "";
}

winsize terminal_size()
{
    winsize size{};
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size : winsize{};
}

/// A file under a temporary name beside its own, removed unless it was given its own.
class TemporaryFile {
public:
    TemporaryFile(const std::string& path, std::string_view text, std::string remedy)
        : path_(path), temporary_(fmt::format("{}.{}.tmp", path, ::getpid())), remedy_(std::move(remedy))
    {
        File file(std::fopen(temporary_.c_str(), "wb"));
        const bool written = file && std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() && std::fflush(file.get()) == 0;
        if (!written || std::fclose(file.release()) != 0) {
            const int error = errno;
            std::remove(temporary_.c_str());
            refuse(error);
        }
    }
    TemporaryFile(TemporaryFile&& other) noexcept : path_(other.path_), temporary_(std::exchange(other.temporary_, "")), remedy_(other.remedy_) {}
    TemporaryFile& operator=(TemporaryFile&&) = delete;
    ~TemporaryFile()
    {
        if (!temporary_.empty()) std::remove(temporary_.c_str());
    }

    void publish()
    {
        if (std::rename(temporary_.c_str(), path_.c_str()) != 0) refuse(errno);
        temporary_.clear();
    }

private:
    [[noreturn]] void refuse(int error) const
    {
        throw InputError(fmt::format("{}: cannot be written ({}): {}", path_, std::strerror(error), remedy_));
    }
    std::string path_, temporary_, remedy_;
};

void make_folder(const std::string& folder)
{
    std::error_code error;
    std::filesystem::create_directory(folder, error);
    if (std::filesystem::is_directory(folder)) return;
    throw InputError(fmt::format("{}: is no folder and cannot be made one ({}): give another path", folder,
                                 error ? error.message() : "something else has that name"));
}

} // namespace

void write_folder(const std::string& folder, std::span<const NamedText> files, Existing existing)
{
    make_folder(folder);
    const auto path_of = [&](const NamedText& file) { return (std::filesystem::path(folder) / file.name).string(); };
    std::error_code ignored;
    for (const NamedText& file : files)
        if (existing == Existing::keep && std::filesystem::exists(std::filesystem::symlink_status(path_of(file), ignored)))
            throw InputError(fmt::format("{}: exists (it would be lost): give another folder, or replace it with --force", path_of(file)));
    std::vector<TemporaryFile> written;
    for (const NamedText& file : files) written.emplace_back(path_of(file), file.text, "give another folder");
    for (TemporaryFile& file : written) file.publish();
}

void write_standard_output(std::string_view text)
{
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (!written)
        throw InputError(fmt::format("standard output cannot be written ({}): the result is lost, run again", std::strerror(errno)));
}

void write_file(const std::string& path, std::string_view text, std::string_view what)
{
    if (holds_something_else(path))
        throw InputError(fmt::format("{0}: exists and is no {1} of shardline's (it would be lost): give another path for the {1}", path, what));
    const std::string remedy = fmt::format("give another path for the {}", what);
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored) || !std::filesystem::exists(path, ignored)) {
        // What was there before stays whole until the new text is. A link leads to the file, and stays one.
        TemporaryFile file(std::filesystem::weakly_canonical(path, ignored).string(), text, remedy);
        file.publish();
        return;
    }
    File file(std::fopen(path.c_str(), "wb")); // a pipe, a device
    const bool written = file && std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() && std::fflush(file.get()) == 0;
    if (!written || std::fclose(file.release()) != 0)
        throw InputError(fmt::format("{}: cannot be written ({}): {}", path, std::strerror(errno), remedy));
}

void print_message(std::string_view message)
{
    constexpr size_t readable = 80; // on a terminal; elsewhere a message is a line
    const std::string text = message_text("shardline", message, isatty(STDERR_FILENO) == 1 ? readable : std::string::npos);
    std::fwrite(text.data(), 1, text.size(), stderr);
}

bool is_terminal() { return isatty(STDOUT_FILENO) == 1; }

bool terminal_obeys() { return is_terminal() && variable("TERM") != "dumb"; }

bool colour_wanted() { return terminal_obeys() && variable("NO_COLOR").empty(); }

int terminal_width()
{
    constexpr int usual = 80;
    const int columns = terminal_size().ws_col;
    return columns > 0 ? columns : usual;
}

int terminal_height()
{
    constexpr int usual = 24;
    const int lines = terminal_size().ws_row;
    return lines > 0 ? lines : usual;
}

} // namespace shardline
