#include "measure/stop_signal.hpp"

#include <csignal>
#include <initializer_list>

namespace shardline {

namespace {

volatile std::sig_atomic_t stop_requested = 0;

void on_signal(int signal)
{
    stop_requested = 1;
    if (signal == SIGINT) std::signal(SIGINT, SIG_DFL); // the next one means now
}

} // namespace

void install_stop_signals()
{
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    for (int signal : {SIGTERM, SIGUSR1, SIGINT}) sigaction(signal, &action, nullptr);
}

bool stop_agreed(MPI_Comm control)
{
    int mine = stop_requested, any = 0;
    MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, control);
    return any != 0;
}

} // namespace shardline
