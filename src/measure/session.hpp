#pragma once

#include <mpi.h>

#include <functional>
#include <string>
#include <vector>

namespace shardline {

/// MPI from initialisation to finalisation, with the communicators of the run. Stands outside the `try` of
/// main: an exception that leaves it must meet abort_run(), not a finalize that waits for the other ranks.
class Session {
public:
    Session(int& argc, char**& argv);
    /// Finalizes, unless an exception unwinds: then the other ranks may never come.
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Gives the ranks other numbers: rank order[i] becomes rank i. `order` is the same on all ranks and keeps rank 0, and nothing has
    /// been said or stored of ranks before. Collective.
    void renumber(const std::vector<int>& order);

    int rank() const { return rank_; }
    int size() const { return size_; }
    bool is_root() const { return rank_ == 0; }

    /// For the timed regions and the synchronisation just before them.
    MPI_Comm work() const { return work_; }
    /// For everything else; never used while a region is timed.
    MPI_Comm control() const { return control_; }

private:
    int rank_ = 0, size_ = 1;
    int exceptions_at_start_ = 0;
    MPI_Comm work_ = MPI_COMM_NULL, control_ = MPI_COMM_NULL;
};

/// Prints `message` with rank and host on stderr and ends all ranks with exit code 1.
[[noreturn]] void abort_run(const std::string& message);

/// Runs `action` on rank 0 alone. An InputError is thrown on every rank, with its text on rank 0; any other
/// exception on rank 0 alone, which aborts the job. Collective over session.control().
void on_root(const Session& session, const std::function<void()>& action);

/// Text of rank 0 on every rank. Collective over comm.
std::string broadcast_text(std::string text, MPI_Comm comm);

/// Name of this rank's host, as MPI gives it.
std::string host_name();

/// "Open MPI v4.1.4, ..." as the library names itself, one line.
std::string mpi_version_text();

} // namespace shardline
