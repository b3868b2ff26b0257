#include "record/reading_process.hpp"

#include "model/error.hpp"
#include "record/reader.hpp"
#include "record/schema.hpp"
#include "record/stored_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <memory>
#include <new>
#include <stdexcept>
#include <system_error>
#include <type_traits>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace shardline {
namespace {

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using Pipe = std::unique_ptr<std::FILE, CloseFile>;

// ---------------------------------------------------------------------------------------------------
// What the child may take

struct Limits {
    rlim_t cpu_seconds, memory_bytes;
};

/// Far more than a sound file needs, in a machine's worst hour too: what was read once, what HDF5 holds of it beside, and a
/// second for each 4 MiB on disk.
Limits limits_for(const std::string& path)
{
    const rlim_t worth = hdf5::believable_bytes(path);
    return {5 + (worth >> 26), 2 * worth + (rlim_t{128} << 20)};
}

void limit(int resource, rlim_t most)
{
    rlimit limits{};
    ::getrlimit(resource, &limits);
    limits.rlim_cur = std::min(limits.rlim_cur, most);
    ::setrlimit(resource, &limits);
}

/// A sanitizer takes terabytes of addresses, needs the signals, and shall be heard.
#ifdef SHARDLINE_SANITIZED
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

/// Bytes of writable memory of its own that this process has, used or not: what RLIMIT_DATA counts.
rlim_t own_memory()
{
    rlim_t size = 0, resident = 0, shared = 0, text = 0, libraries = 0, data = 0;
    std::ifstream("/proc/self/statm") >> size >> resident >> shared >> text >> libraries >> data;
    return data * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

/// This process may crash, but not be noticed by it.
void become_expendable(const Limits& limits)
{
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, limits.cpu_seconds);
    ::signal(SIGXCPU, SIG_DFL);
    ::signal(SIGPIPE, SIG_DFL);
    if (sanitized) return;
    limit(RLIMIT_DATA, own_memory() + limits.memory_bytes);
    for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTERM, SIGINT, SIGHUP}) ::signal(number, SIG_DFL);
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC); // the C library has words of its own for a spoilt heap
    if (nowhere >= 0) ::dup2(nowhere, STDERR_FILENO);
}

// ---------------------------------------------------------------------------------------------------
// A run through a pipe

/// The child came to an end before all was told.
struct EndedEarly {};

class Sender {
public:
    explicit Sender(std::FILE* pipe) : pipe_(pipe) {}

    void bytes(const void* data, size_t size)
    {
        if (size != 0 && std::fwrite(data, 1, size, pipe_) != size) ::_exit(1); // nobody listens
    }

    size_t count(size_t here, size_t)
    {
        bytes(&here, sizeof here);
        return here;
    }

private:
    std::FILE* pipe_;
};

class Receiver {
public:
    Receiver(std::FILE* pipe, uint64_t most_bytes) : pipe_(pipe), left_(most_bytes) {}

    void bytes(void* data, size_t size)
    {
        for (size_t got = 0; got < size;) {
            got += std::fread(static_cast<char*>(data) + got, 1, size - got, pipe_);
            if (got == size) return;
            if (!std::ferror(pipe_) || errno != EINTR) throw EndedEarly();
            std::clearerr(pipe_);
        }
    }

    /// How many the other side has; not more than it can have had memory for.
    size_t count(size_t, size_t bytes_each)
    {
        size_t there = 0;
        bytes(&there, sizeof there);
        if (there > left_ / bytes_each) throw EndedEarly();
        left_ -= there * bytes_each;
        return there;
    }

private:
    std::FILE* pipe_;
    uint64_t left_;
};

// One description for both directions, so that they cannot differ.

template <class Channel, class Value> void transfer(Channel& channel, Value& value)
{
    if constexpr (std::is_trivially_copyable_v<Value>)
        channel.bytes(&value, sizeof value);
    else
        schema::Table<Value>::columns([&](const schema::Column&, auto field) { transfer(channel, value.*field); });
}

template <class Channel> void transfer(Channel& channel, std::string& text)
{
    text.resize(channel.count(text.size(), 1));
    channel.bytes(text.data(), text.size());
}

template <class Channel, class Value> void transfer(Channel& channel, std::vector<Value>& values)
{
    values.resize(channel.count(values.size(), sizeof(Value)));
    if constexpr (std::is_trivially_copyable_v<Value>)
        channel.bytes(values.data(), values.size() * sizeof(Value));
    else
        for (Value& value : values) transfer(channel, value);
    if constexpr (std::is_same_v<Channel, Sender>) std::vector<Value>().swap(values); // so that the two processes together hold a large run once
}

template <class Channel> void transfer(Channel& channel, RunData& run)
{
    transfer(channel, run.path);
    transfer(channel, run.status);
    transfer(channel, run.experiment_text);
    transfer(channel, run.overrides);
    transfer(channel, run.experiment_effective);
    transfer(channel, run.provenance);
    transfer(channel, run.environment);
    transfer(channel, run.ranks);
    transfer(channel, run.points);
    transfer(channel, run.repetitions.ranks);
    transfer(channel, run.repetitions.kept);
    transfer(channel, run.repetitions);
    transfer(channel, run.rank_summaries);
    transfer(channel, run.checks);
    transfer(channel, run.findings);
    transfer(channel, run.clocks);
}

// ---------------------------------------------------------------------------------------------------
// The two processes

enum class Outcome : uint8_t { read, refused, out_of_memory, failed };

void tell(Sender& sender, Outcome outcome, std::string text)
{
    transfer(sender, outcome);
    transfer(sender, text);
}

[[noreturn]] void read_and_tell(int descriptor, const std::string& path, RunData (*read)(const std::string&))
{
    const Pipe pipe(::fdopen(descriptor, "wb"));
    Sender sender(pipe.get());
    try {
        RunData run = read(path);
        tell(sender, Outcome::read, "");
        transfer(sender, run);
    } catch (const InputError& error) {
        tell(sender, Outcome::refused, error.what());
    } catch (const std::bad_alloc&) {
        tell(sender, Outcome::out_of_memory, "");
    } catch (const std::exception& error) {
        tell(sender, Outcome::failed, error.what());
    }
    ::_exit(std::fflush(pipe.get()) == 0 ? 0 : 1); // runs no handler of the process it was copied from
}

[[noreturn]] void refuse_to_read(const std::string& path, std::string_view why, std::string_view suggestion)
{
    throw InputError(fmt::format("cannot read {} ({}): {}", path, why, suggestion));
}

/// The child, waited for whatever happens.
class Child {
public:
    explicit Child(pid_t process) : process_(process) {}
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() { wait(); }

    /// Its status as waitpid() tells it; 0 where that is lost because the program ignores SIGCHLD.
    int wait()
    {
        if (process_ > 0)
            while (::waitpid(process_, &status_, 0) < 0 && errno == EINTR) {}
        process_ = 0;
        return status_;
    }

private:
    pid_t process_;
    int status_ = 0;
};

[[noreturn]] void explain_early_end(const std::string& path, int status)
{
    if (!WIFSIGNALED(status))
        throw std::runtime_error(fmt::format("the process that read {} ended with {}", path, WEXITSTATUS(status)));
    switch (WTERMSIG(status)) {
    case SIGXCPU: refuse_to_read(path, "reading it does not come to an end", "it is damaged");
    case SIGKILL: refuse_to_read(path, "the process that read it was killed", "try again where there is more memory");
    case SIGTERM:
    case SIGINT:
    case SIGHUP: refuse_to_read(path, "the process that read it was asked to stop", "try again");
    default: refuse_to_read(path, "the HDF5 library crashes over it", "it is damaged, or made to do that");
    }
}

RunData receive(std::FILE* pipe, const std::string& path, uint64_t most_bytes)
{
    Receiver receiver(pipe, most_bytes);
    auto outcome = Outcome::failed;
    std::string text;
    transfer(receiver, outcome);
    transfer(receiver, text);
    RunData run;
    switch (outcome) {
    case Outcome::read: transfer(receiver, run); return run;
    case Outcome::refused: throw InputError(text);
    case Outcome::out_of_memory:
        refuse_to_read(path, "it takes more memory than there is, or than a file of its size may", "it is damaged, or use a larger machine");
    case Outcome::failed: break;
    }
    throw std::runtime_error(text);
}

} // namespace

RunData read_in_a_process_of_its_own(const std::string& path, RunData (*read)(const std::string&))
{
    const auto cannot_start = [&](int error) {
        refuse_to_read(path, fmt::format("no process can be started for it: {}", std::generic_category().message(error)),
               "end some, or raise the limit (ulimit -u)");
    };
    const Limits limits = limits_for(path);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) cannot_start(errno);
    ::fcntl(ends[1], F_SETPIPE_SZ, 1 << 20); // a large run goes through in fewer turns; where the system does not let us, so be it
    const pid_t process = ::fork();
    if (process == 0) {
        ::close(ends[0]);
        become_expendable(limits);
        read_and_tell(ends[1], path, read);
    }
    const int error = errno;
    ::close(ends[1]);
    Child child(process);
    Pipe pipe(::fdopen(ends[0], "rb")); // closed before the child is waited for, so that a child that still tells, ends
    if (process < 0) cannot_start(error);
    try {
        return receive(pipe.get(), path, limits.memory_bytes);
    } catch (const EndedEarly&) {
        pipe.reset();
        explain_early_end(path, child.wait());
    }
}

} // namespace shardline
