#include "measure/persistent.hpp"

#ifdef SHARDLINE_HAVE_MPIX_ALLREDUCE_INIT
#include <mpi-ext.h>
#endif

namespace shardline {

bool has_persistent_collectives()
{
#if defined(SHARDLINE_HAVE_ALLREDUCE_INIT) || defined(SHARDLINE_HAVE_MPIX_ALLREDUCE_INIT)
    return true;
#else
    return false;
#endif
}

MPI_Request persistent_allreduce([[maybe_unused]] const void* send, [[maybe_unused]] void* receive, [[maybe_unused]] int64_t count,
                                 [[maybe_unused]] const WireType& wire, [[maybe_unused]] MPI_Comm comm)
{
    MPI_Request request = MPI_REQUEST_NULL;
#if defined(SHARDLINE_HAVE_ALLREDUCE_INIT)
    MPI_Allreduce_init(send, receive, static_cast<int>(count), wire.datatype(), wire.sum(), comm, MPI_INFO_NULL, &request);
#elif defined(SHARDLINE_HAVE_MPIX_ALLREDUCE_INIT)
    MPIX_Allreduce_init(send, receive, static_cast<int>(count), wire.datatype(), wire.sum(), comm, MPI_INFO_NULL, &request);
#endif
    return request;
}

} // namespace shardline
