// The file reader, and all that `shardline report` makes of what it read, against files of any bytes: a run, or one line of
// refusal.

#include "model/analysis.hpp"
#include "model/error.hpp"
#include "postprocess/printable.hpp"
#include "postprocess/report_json.hpp"
#include "postprocess/report_text.hpp"
#include "record/reader.hpp"

#include <sanitizer/asan_interface.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

extern "C" {
// Where libFuzzer's counts of the edges that were passed begin and end. In assembly, as names that the compiler declares itself
// cannot be declared once more.
extern uint8_t* const bounds_of_counts[2];
__asm__(".pushsection .data\n.balign 8\n.globl bounds_of_counts\nbounds_of_counts:\n"
        ".quad __start___sancov_cntrs, __stop___sancov_cntrs\n.popsection\n");

// Frames as module and offset: see is_fault_of_hdf5(). ASAN_OPTIONS=symbolize=1 gives names.
const char* __asan_default_options()
{
    return "symbolize=0:handle_abort=1:allocator_may_return_null=1:max_allocation_size_mb=1024:quarantine_size_mb=8";
}
}

namespace {

using namespace shardline;

// ---------------------------------------------------------------------------------------------------
// The reader's child process: what it covers, and whose its faults are

int file = -1;     ///< the file to read
std::string path;  ///< its name: HDF5 reads no file without one
int messages = -1; ///< the child's stderr
int counts = -1;   ///< the pages around the counters, as the child leaves them
uint8_t* counted = nullptr;

uint8_t* counts_begin() { return bounds_of_counts[0]; }
uint8_t* counts_end() { return bounds_of_counts[1]; }

uint8_t* first_page()
{
    static const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
    return reinterpret_cast<uint8_t*>(reinterpret_cast<uintptr_t>(counts_begin()) / page * page);
}

size_t bytes_of_counts()
{
    static const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    return (static_cast<size_t>(counts_end() - first_page()) + page - 1) / page * page;
}

/// By a bare system call: other variables in these pages have red zones, which a sanitizer would find touched.
void before_fork() { ::syscall(SYS_pwrite64, counts, first_page(), bytes_of_counts(), off_t{0}); }

bool stands_in(std::string_view text, std::string_view library, int most_frames)
{
    for (int frame = 0; frame < most_frames; ++frame) {
        const auto begin = text.find("    #" + std::to_string(frame) + " ");
        if (begin == text.npos) return false;
        if (text.substr(begin, text.find('\n', begin) - begin).find(library) != std::string_view::npos) return true;
    }
    return false;
}

/// Whether HDF5 is to blame, or what it called; not where it went just beyond a buffer that we had given it. (Farther away, the
/// report names whatever memory happens to lie nearest.)
bool is_fault_of_hdf5(std::string_view report)
{
    constexpr int calls_within_the_sanitizer = 4;
    const auto allocation = report.find("allocated by thread");
    const bool just_beyond = allocation != report.npos && report.substr(0, allocation).find("is located 0 bytes") != report.npos;
    return stands_in(report.substr(0, allocation), "libhdf5", calls_within_the_sanitizer)
        && (!just_beyond || stands_in(report.substr(allocation), "libhdf5", calls_within_the_sanitizer));
}

/// Faults of HDF5 are what the child is for; without a sanitizer it would end by a signal.
void end_child(const char* report)
{
    if (!is_fault_of_hdf5(report)) return;
    sigset_t none; // a signal is blocked while it is handled
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    std::signal(SIGSEGV, SIG_DFL);
    std::raise(SIGSEGV);
}

void in_child()
{
    ::mmap(first_page(), bytes_of_counts(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, counts, 0);
    ::dup2(messages, STDERR_FILENO);
    __sanitizer_set_death_callback([] {}); // libFuzzer's would save the input and go on to report it, in the child
    __asan_set_error_report_callback(end_child);
    rlimit limits{};
    ::getrlimit(RLIMIT_CPU, &limits);
    limits.rlim_cur = 2; // seconds; the reader's own limit is for slow machines too
    ::setrlimit(RLIMIT_CPU, &limits);
}

void take_counts_of_child()
{
    const uint8_t* from = counted + (counts_begin() - first_page());
    for (uint8_t* to = counts_begin(); to != counts_end(); ++to, ++from) *to = std::max(*to, *from);
}

// ---------------------------------------------------------------------------------------------------
// What is expected

[[noreturn]] void fail(const std::string& what)
{
    char text[4096];
    std::fprintf(stderr, "%s\n", what.c_str());
    for (off_t at = 0;;) {
        const ssize_t size = ::pread(messages, text, sizeof text, at);
        if (size <= 0) break;
        std::fwrite(text, 1, static_cast<size_t>(size), stderr);
        at += size;
    }
    std::abort();
}

void write_file(const uint8_t* data, size_t size)
{
    if (::ftruncate(file, 0) != 0 || ::ftruncate(messages, 0) != 0 || ::lseek(messages, 0, SEEK_SET) != 0) std::abort();
    if (::pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
}

void require_one_line(const std::string& message)
{
    if (message.empty() || message.find('\n') != message.npos) fail("not one line: " + message);
}

RunData read()
{
    try {
        RunData run = read_run(path);
        take_counts_of_child();
        return run;
    } catch (...) {
        take_counts_of_child();
        throw;
    }
}

void read_and_report()
{
    try {
        const RunData run = read();
        const std::span<const RunData> launches(&run, 1);
        const Analysis analysis = analyse(launches);
        if (report_text(analysis, launches).empty() || report_json(analysis, launches).empty()) fail("an empty report");
    } catch (const InputError& error) {
        require_one_line(printable(error.what()));
    } catch (const std::exception& error) {
        fail(error.what());
    }
}

} // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***)
{
    path = (::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") + std::string("/shardline-file-fuzzer-XXXXXX");
    file = ::mkstemp(path.data());
    std::atexit([] { ::unlink(path.c_str()); });
    messages = ::memfd_create("messages", 0);
    counts = ::memfd_create("counts", 0);
    if (file < 0 || messages < 0 || counts < 0 || ::ftruncate(counts, static_cast<off_t>(bytes_of_counts())) != 0) std::abort();
    counted = static_cast<uint8_t*>(::mmap(nullptr, bytes_of_counts(), PROT_READ, MAP_SHARED, counts, 0));
    ::pthread_atfork(before_fork, nullptr, in_child);
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    write_file(data, size);
    read_and_report();
    return 0;
}
