// gnuplot is stood in for by small scripts, so that what it does wrong is known.

#include "postprocess/gnuplot.hpp"

#include "model/error.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <unistd.h>

namespace shardline {
namespace {

namespace fs = std::filesystem;

/// A variable of the environment, set back at the end.
class Variable {
public:
    Variable(const char* name, const std::string& value) : name_(name)
    {
        if (const char* old = std::getenv(name)) old_ = old;
        ::setenv(name, value.c_str(), 1);
    }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;
    ~Variable() { old_ ? ::setenv(name_, old_->c_str(), 1) : ::unsetenv(name_); }

private:
    const char* name_;
    std::optional<std::string> old_;
};

class Gnuplot : public ::testing::Test {
protected:
    void stand_in(const std::string& script)
    {
        const std::string program = programs_.path() + "/gnuplot";
        std::ofstream(program) << "#!/bin/sh\n" << script << "\n";
        fs::permissions(program, fs::perms::owner_all);
    }
    std::string run(std::chrono::seconds limit = std::chrono::seconds(60)) { return run_gnuplot(folder_.path(), "it.gp", limit); }

    TemporaryFolder programs_, folder_;
    Variable path_{"PATH", programs_.path() + ":/bin:/usr/bin"};
};

TEST_F(Gnuplot, RunsInTheFolderWithoutShellOrTheUsersSettings)
{
    stand_in("pwd -P >where; printf '%s\\n' \"$@\" >arguments; cat >input");
    EXPECT_EQ(run(), "");
    const auto content = [&](const char* name) {
        std::ifstream file(folder_.path() + "/" + name);
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    EXPECT_EQ(content("where"), fs::canonical(folder_.path()).string() + "\n");
    EXPECT_EQ(content("arguments"), "-d\nit.gp\n");
    EXPECT_EQ(content("input"), "") << "standard input is empty";
    EXPECT_FALSE(fs::exists(folder_.path() + "/gnuplot.log"));
}

TEST_F(Gnuplot, SaysWhyItFailed)
{
    stand_in("echo 'plot x' >&2; echo '     ^' >&2; echo '\"it.gp\" line 3: undefined' >&2; echo >&2; exit 1");
    EXPECT_EQ(run(), "\"it.gp\" line 3: undefined");
    stand_in("exit 7");
    EXPECT_EQ(run(), "exit code 7");
    stand_in("kill -SEGV $$");
    EXPECT_EQ(run(), "signal 11 ended it");
}

TEST_F(Gnuplot, IsEndedWithAllThatItStarted)
{
    stand_in("sh -c 'echo $$ >child; sleep 600' & sleep 600");
    EXPECT_EQ(run(std::chrono::seconds(1)), "it did not end within 1 s");
    int child = 0;
    std::ifstream(folder_.path() + "/child") >> child;
    ASSERT_GT(child, 0);
    // Killed; what is left of it, until init has noticed, is a zombie.
    std::string state = "Z";
    for (int tries = 0; tries < 500; ++tries) {
        std::ifstream stat("/proc/" + std::to_string(child) + "/stat");
        std::string number, name;
        if (!(stat >> number >> name >> state)) state = "Z";
        if (state == "Z" || state == "X") break;
        ::usleep(10'000);
    }
    EXPECT_TRUE(state == "Z" || state == "X") << state;
}

TEST_F(Gnuplot, IsLookedForOnPath)
{
    EXPECT_FALSE(([] { const Variable nowhere("PATH", "/nonexistent/gone"); return gnuplot_is_installed(); })());
    stand_in("exit 0");
    EXPECT_TRUE(gnuplot_is_installed());
    fs::permissions(programs_.path() + "/gnuplot", fs::perms::owner_read);
    EXPECT_FALSE(([this] { const Variable only("PATH", programs_.path()); return gnuplot_is_installed(); })()) << "not a program";
}

TEST(TemporaryFolder, IsRemovedWithAllThatIsInIt)
{
    std::string path;
    {
        const TemporaryFolder folder;
        path = folder.path();
        std::ofstream(path + "/file") << "text";
        EXPECT_TRUE(fs::is_directory(path));
    }
    EXPECT_FALSE(fs::exists(path));
    const Variable nowhere("TMPDIR", path + "/gone");
    EXPECT_THROW(TemporaryFolder(), InputError);
}

} // namespace
} // namespace shardline
