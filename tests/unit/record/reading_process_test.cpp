// Whatever becomes of the process that reads, the program that asked goes on with one line about it.

#include "model/error.hpp"
#include "record/reading_process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <new>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

namespace shardline {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string path = "/no/such/run.h5";

using Read = RunData (*)(const std::string&);

std::string refusal(Read read)
{
    try {
        read_in_a_process_of_its_own(path, read);
        return "was read";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), AllOf(HasSubstr(path), Not(HasSubstr("\n"))));
        return error.what();
    }
}

TEST(ReadingProcess, HandsOverWhatWasRead)
{
    const RunData run = read_in_a_process_of_its_own(path, [](const std::string& name) {
        RunData all;
        all.path = name;
        all.overrides = {"", "B=1", std::string(100'000, 'x')};
        all.ranks.resize(2);
        all.ranks[1].host = "b";
        all.ranks[1].blas_threads = 7;
        all.repetitions.ranks = 2;
        all.repetitions.comm_end_ns.assign(1'000'000, 5);
        all.clocks.push_back({1, 2, 3, 0.5, 4});
        return all;
    });
    EXPECT_EQ(run.path, path);
    ASSERT_EQ(run.overrides.size(), 3u);
    EXPECT_EQ(run.overrides[2], std::string(100'000, 'x'));
    ASSERT_EQ(run.ranks.size(), 2u);
    EXPECT_EQ(run.ranks[1].host, "b");
    EXPECT_EQ(run.ranks[1].blas_threads, 7);
    EXPECT_EQ(run.repetitions.comm_end_ns, std::vector<int64_t>(1'000'000, 5));
    ASSERT_EQ(run.clocks.size(), 1u);
    EXPECT_EQ(run.clocks[0].drift, 0.5);
}

TEST(ReadingProcess, HandsOverARefusal)
{
    EXPECT_EQ(refusal([](const std::string& name) -> RunData { throw InputError(name + " is refused"); }), path + " is refused");
}

TEST(ReadingProcess, ThatFailsOtherwiseIsNoRefusal)
{
    EXPECT_THROW(refusal([](const std::string&) -> RunData { throw std::logic_error("a mistake of ours"); }), std::runtime_error);
    EXPECT_THROW(refusal([](const std::string&) -> RunData { ::_exit(3); }), std::runtime_error);
}

TEST(ReadingProcess, ThatCrashesIsARefusal)
{
#ifdef SHARDLINE_SANITIZED
    GTEST_SKIP() << "the sanitizer takes the signal";
#endif
    testing::internal::CaptureStderr();
    EXPECT_THAT(refusal([](const std::string&) -> RunData { std::raise(SIGSEGV); return {}; }), HasSubstr("crashes"));
    EXPECT_THAT(refusal([](const std::string&) -> RunData { static_cast<void>(!::write(2, "corrupted size", 14)); std::abort(); }),
                HasSubstr("crashes"));
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(ReadingProcess, ThatNeverEndsIsARefusal)
{
    const auto with_a_second = [] {
        rlimit limits{};
        ::getrlimit(RLIMIT_CPU, &limits);
        limits.rlim_cur = 1; // the reading process takes the lesser of this and its own
        ::setrlimit(RLIMIT_CPU, &limits);
        const auto message = refusal([](const std::string&) -> RunData {
            for (;;) static_cast<void>(::getppid()); // a loop without effect might be left out
        });
        ::_exit(message.find("does not come to an end") == message.npos);
    };
    EXPECT_EXIT(with_a_second(), testing::ExitedWithCode(0), "");
}

TEST(ReadingProcess, ThatTakesAllMemoryIsARefusal)
{
#ifdef SHARDLINE_SANITIZED
    GTEST_SKIP() << "sanitizers reserve more than any limit";
#endif
    const auto hoard = [](const std::string&) -> RunData {
        std::vector<std::vector<char>> blocks;
        for (int gibibyte = 0; gibibyte < 64; ++gibibyte)
            for (int i = 0; i < 1024; ++i) blocks.emplace_back(1 << 20, '\1');
        return {};
    };
    EXPECT_THAT(refusal(hoard), HasSubstr("memory"));
}

} // namespace
} // namespace shardline
