#include "postprocess/gnuplot.hpp"

#include "model/error.hpp"
#include "postprocess/printable.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace shardline {
namespace {

constexpr const char* log_name = "gnuplot.log"; ///< what it says, in the folder it runs in

/// What the child does between fork() and gnuplot: only calls that are allowed there.
[[noreturn]] void become_gnuplot(const char* folder, const char* script)
{
    constexpr int failed = 127;
    ::setpgid(0, 0); // whatever it starts ends with it
    if (::chdir(folder) != 0) ::_exit(failed);
    const int nothing = ::open("/dev/null", O_RDONLY);
    const int log = ::open(log_name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (nothing < 0 || log < 0) ::_exit(failed);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(log, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
    ::signal(SIGPIPE, SIG_DFL);
    ::execlp("gnuplot", "gnuplot", "-d", script, static_cast<char*>(nullptr)); // -d: without the user's own settings
    ::_exit(failed);
}

/// Waits for the process until `limit` has passed, then ends it. Its status as waitpid() tells it; -1 where it had to be ended.
int wait_for(pid_t process, std::chrono::seconds limit)
{
    const auto end = std::chrono::steady_clock::now() + limit;
    int status = 0;
    for (;;) {
        const pid_t ended = ::waitpid(process, &status, WNOHANG);
        if (ended == process) return status;
        if (ended < 0 && errno != EINTR) return 0; // SIGCHLD is ignored: the log has to tell
        if (std::chrono::steady_clock::now() >= end) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ::kill(-process, SIGKILL);
    while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {}
    return -1;
}

/// gnuplot shows the line, marks the place, and says what is wrong last: "crossover.gp" line 12: undefined variable: x
std::string last_words(const std::string& log)
{
    std::ifstream file(log);
    std::string words;
    for (std::string line; std::getline(file, line);)
        if (line.find_first_not_of(" \t^") != std::string::npos) words = line;
    constexpr size_t most = 300;
    return words.substr(0, most);
}

} // namespace

TemporaryFolder::TemporaryFolder()
{
    const char* const variable = std::getenv("TMPDIR");
    path_ = fmt::format("{}/shardline.XXXXXX", variable && *variable ? variable : "/tmp");
    if (!::mkdtemp(path_.data()))
        throw InputError(fmt::format("no temporary folder can be made ({}: {}): set TMPDIR to one that can be written", path_,
                                     std::generic_category().message(errno)));
}

TemporaryFolder::~TemporaryFolder()
{
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

bool gnuplot_is_installed()
{
    const char* const variable = std::getenv("PATH");
    std::string_view path = variable ? variable : "/bin:/usr/bin";
    for (;;) {
        const size_t colon = std::min(path.find(':'), path.size());
        const std::string folder = colon == 0 ? "." : std::string(path.substr(0, colon));
        const std::string program = folder + "/gnuplot";
        if (std::error_code ignored; std::filesystem::is_regular_file(program, ignored) && ::access(program.c_str(), X_OK) == 0) return true;
        if (colon == path.size()) return false;
        path.remove_prefix(colon + 1);
    }
}

std::string run_gnuplot(const std::string& folder, const std::string& script, std::chrono::seconds limit)
{
    const pid_t process = ::fork();
    if (process < 0) return std::generic_category().message(errno);
    if (process == 0) become_gnuplot(folder.c_str(), script.c_str());
    const int status = wait_for(process, limit);

    const std::string log = folder + "/" + log_name;
    const std::string words = last_words(log);
    std::error_code ignored;
    std::filesystem::remove(log, ignored);
    if (status == 0) return "";
    if (status == -1) return fmt::format("it did not end within {} s", limit.count());
    if (!words.empty()) return words;
    return WIFSIGNALED(status) ? fmt::format("signal {} ended it", WTERMSIG(status)) : fmt::format("exit code {}", WEXITSTATUS(status));
}

std::string gnuplot_string(std::string_view text)
{
    // Between single quotes only the quote itself means anything, and is written twice.
    std::string quoted = "'";
    for (const char c : printable(text)) {
        quoted += c;
        if (c == '\'') quoted += c;
    }
    return quoted + "'";
}

} // namespace shardline
