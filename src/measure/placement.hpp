#pragma once

// The order of a run's ranks, and groups of the first of them.

#include "experiment/experiment.hpp"
#include "measure/session.hpp"

#include <mpi.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <span>
#include <string>
#include <vector>

namespace shardline {

/// For each rank of the new order the rank it has now, given the hosts of the ranks. Hosts in order of their first rank and the
/// ranks of a host in their own, so that rank 0 stays.
std::vector<int> placement_order(std::span<const std::string> hosts, Placement placement);

/// Host of every rank. Collective over session.control().
std::vector<std::string> hosts_of_ranks(const Session& session);

/// Ranks 0 .. size−1 of a run: those that share a point. The communicators are null on the others.
struct RankGroup {
    int32_t size = 0;
    bool is_whole = true;   ///< all ranks of the run
    bool takes_part = true; ///< this rank
    MPI_Comm work = MPI_COMM_NULL, control = MPI_COMM_NULL; ///< as those of the session, of these ranks
};

/// A group for each of several sizes, made when first asked for.
class RankGroups {
public:
    explicit RankGroups(const Session& session) : session_(session), exceptions_at_start_(std::uncaught_exceptions()) {}
    ~RankGroups();
    RankGroups(const RankGroups&) = delete;
    RankGroups& operator=(const RankGroups&) = delete;

    /// Collective over session where no group of that size is there yet. The reference stays valid.
    const RankGroup& of(int32_t size);

private:
    const Session& session_;
    int exceptions_at_start_;
    std::list<RankGroup> groups_;
};

/// Returns when every rank has come here. Ranks that come early sleep, so that they do not disturb those that measure, and call
/// `waiting` once in a while. Collective over comm.
void meet_asleep(MPI_Comm comm, const std::function<void()>& waiting);

} // namespace shardline
