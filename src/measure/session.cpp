#include "measure/session.hpp"

#include "measure/allreduce_algorithms.hpp"
#include "model/error.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>

namespace shardline {

namespace {

int number_in_run = -1; ///< of this rank, for a message when there may be no session to ask

} // namespace

Session::Session(int& argc, char**& argv) : exceptions_at_start_(std::uncaught_exceptions())
{
    // One thread at a time calls MPI: the main one, or a strategy's own. An MPI that provides less than asked still serves the
    // strategies without a thread (require_feasible).
    allow_allreduce_algorithms();
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    // MPI's default error handler ends the job and prints the communicator's name.
    MPI_Comm_dup(MPI_COMM_WORLD, &work_);
    MPI_Comm_set_name(work_, "shardline work");
    MPI_Comm_dup(MPI_COMM_WORLD, &control_);
    MPI_Comm_set_name(control_, "shardline control");
    number_in_run = rank_;
}

void Session::renumber(const std::vector<int>& order)
{
    const int number = static_cast<int>(std::ranges::find(order, rank_) - order.begin());
    MPI_Comm work = MPI_COMM_NULL, control = MPI_COMM_NULL;
    MPI_Comm_split(control_, 0, number, &work);
    MPI_Comm_dup(work, &control);
    MPI_Comm_set_name(work, "shardline work");
    MPI_Comm_set_name(control, "shardline control");
    MPI_Comm_free(&control_);
    MPI_Comm_free(&work_);
    work_ = work;
    control_ = control;
    rank_ = number_in_run = number;
}

Session::~Session()
{
    if (std::uncaught_exceptions() > exceptions_at_start_) return;
    MPI_Comm_free(&control_);
    MPI_Comm_free(&work_);
    MPI_Finalize();
}

void abort_run(const std::string& message)
{
    std::fprintf(stderr, "shardline-run: rank %d on %s: %s\n", number_in_run, host_name().c_str(), message.c_str());
    std::fflush(nullptr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::_Exit(1); // MPI_Abort may return while the job is being taken down
}

void on_root(const Session& session, const std::function<void()>& action)
{
    enum Outcome : int { fine, input_error, failure };
    int outcome = fine;
    std::string text;
    if (session.is_root()) {
        try {
            action();
        } catch (const InputError& e) {
            outcome = input_error;
            text = e.what();
        } catch (const std::exception& e) {
            outcome = failure;
            text = e.what();
        }
    }
    MPI_Bcast(&outcome, 1, MPI_INT, 0, session.control());
    if (outcome == input_error) throw InputError(text);
    // Rank 0 will abort the job; the others are ended by that and have nothing to add.
    if (outcome == failure && session.is_root()) throw std::runtime_error(text);
}

std::string broadcast_text(std::string text, MPI_Comm comm)
{
    int64_t length = static_cast<int64_t>(text.size());
    MPI_Bcast(&length, 1, MPI_INT64_T, 0, comm);
    text.resize(static_cast<size_t>(length));
    MPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, 0, comm);
    return text;
}

std::string host_name()
{
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    MPI_Get_processor_name(host, &length);
    return host;
}

std::string mpi_version_text()
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(text, &length);
    std::string line = text; // `length` counts the closing NUL in some MPIs
    line = line.substr(0, line.find('\n'));
    std::replace(line.begin(), line.end(), '\t', ' '); // MPICH's
    return line;
}

} // namespace shardline
