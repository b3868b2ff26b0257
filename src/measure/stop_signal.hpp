#pragma once

#include <mpi.h>

namespace shardline {

/// From now on SIGTERM, SIGUSR1 and SIGINT ask this rank to end the run in order; a second SIGINT ends it at once.
void install_stop_signals();

/// True on every rank once any rank was asked to stop. Collective over control.
bool stop_agreed(MPI_Comm control);

} // namespace shardline
