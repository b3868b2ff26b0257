#pragma once

// gnuplot, the program: started without a shell, in a folder of its own, and not for ever.

#include <chrono>
#include <string>
#include <string_view>

namespace shardline {

/// A folder of this process's own below TMPDIR, or /tmp, removed with all that is in it.
class TemporaryFolder {
public:
    TemporaryFolder(); ///< throws InputError where none can be made
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder();
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

/// Whether a program of that name is on PATH.
bool gnuplot_is_installed();

/// Runs `gnuplot SCRIPT` in `folder`, without the user's start-up files, and ends it after `limit`. Returns why it failed, in its
/// own words where it has any; nothing where it did not.
std::string run_gnuplot(const std::string& folder, const std::string& script, std::chrono::seconds limit = std::chrono::seconds(30));

/// A string constant of gnuplot's language, in which nothing of the text is a command, a macro or a backquoted shell command.
/// Control characters and the like appear as in printable().
std::string gnuplot_string(std::string_view text);

} // namespace shardline
