#pragma once

#include <mpi.h>

#include <map>
#include <string>
#include <vector>

namespace shardline {

/// Lets an Open MPI use the algorithms by name that its allreduce offers: it takes the one in its control variable
/// coll_tuned_allreduce_algorithm (MPI tools interface) whenever a communicator is made, and keeps it for that communicator. Heeded
/// only with the setting of allow_allreduce_algorithms(). Another MPI has no names.
class AllreduceAlgorithms {
public:
    explicit AllreduceAlgorithms(MPI_Comm work);
    ~AllreduceAlgorithms();
    AllreduceAlgorithms(const AllreduceAlgorithms&) = delete;
    AllreduceAlgorithms& operator=(const AllreduceAlgorithms&) = delete;

    /// Names that may be asked for, without the MPI's own choice.
    std::vector<std::string> names() const;

    /// A communicator of all ranks whose allreduce uses that algorithm; an empty name: the MPI's own choice. Collective over work where
    /// it is the first time.
    MPI_Comm communicator(const std::string& name);

private:
    MPI_Comm work_;
    MPI_T_cvar_handle variable_ = nullptr;
    std::map<std::string, int> values_;
    std::map<std::string, MPI_Comm> communicators_;
};

/// To be called before MPI is initialised. Unless the user says otherwise Open MPI then asks for a rule or a variable before it chooses an
/// algorithm; where there is neither it chooses as ever.
void allow_allreduce_algorithms();

} // namespace shardline
