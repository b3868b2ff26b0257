#include "measure/placement.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <string_view>
#include <thread>
#include <unordered_map>

namespace shardline {

std::vector<int> placement_order(std::span<const std::string> hosts, Placement placement)
{
    struct Seat {
        int rank;
        size_t host;  ///< in order of first ranks
        size_t place; ///< among the host's ranks
    };
    std::unordered_map<std::string_view, size_t> seen;
    std::vector<size_t> taken;
    std::vector<Seat> seats;
    for (size_t rank = 0; rank < hosts.size(); ++rank) {
        const auto [its, is_new] = seen.try_emplace(hosts[rank], seen.size());
        if (is_new) taken.push_back(0);
        const size_t host = its->second;
        seats.push_back({static_cast<int>(rank), host, taken[host]++});
    }
    if (placement == Placement::spread) std::ranges::stable_sort(seats, {}, [](const Seat& seat) { return std::pair(seat.place, seat.host); });
    if (placement == Placement::pack) std::ranges::stable_sort(seats, {}, &Seat::host);
    std::vector<int> order;
    for (const Seat& seat : seats) order.push_back(seat.rank);
    return order;
}

std::vector<std::string> hosts_of_ranks(const Session& session)
{
    std::vector<char> mine(MPI_MAX_PROCESSOR_NAME, '\0'), all(mine.size() * static_cast<size_t>(session.size()));
    host_name().copy(mine.data(), mine.size() - 1);
    MPI_Allgather(mine.data(), static_cast<int>(mine.size()), MPI_CHAR, all.data(), static_cast<int>(mine.size()), MPI_CHAR, session.control());
    std::vector<std::string> hosts;
    for (size_t rank = 0; rank < static_cast<size_t>(session.size()); ++rank) hosts.emplace_back(all.data() + rank * mine.size());
    return hosts;
}

RankGroups::~RankGroups()
{
    if (std::uncaught_exceptions() > exceptions_at_start_) return; // the other ranks may never come
    for (RankGroup& group : groups_) {
        if (group.is_whole || !group.takes_part) continue;
        MPI_Comm_free(&group.work);
        MPI_Comm_free(&group.control);
    }
}

const RankGroup& RankGroups::of(int32_t size)
{
    const auto found = std::ranges::find(groups_, size, &RankGroup::size);
    if (found != groups_.end()) return *found;
    if (size == session_.size()) {
        groups_.push_back({size, true, true, session_.work(), session_.control()});
        return groups_.back();
    }
    RankGroup group{size, false, session_.rank() < size, MPI_COMM_NULL, MPI_COMM_NULL};
    const int color = group.takes_part ? 0 : MPI_UNDEFINED;
    MPI_Comm_split(session_.work(), color, session_.rank(), &group.work);
    MPI_Comm_split(session_.control(), color, session_.rank(), &group.control);
    if (group.takes_part) {
        MPI_Comm_set_name(group.work, ("shardline work of " + std::to_string(size) + " ranks").c_str());
        MPI_Comm_set_name(group.control, ("shardline control of " + std::to_string(size) + " ranks").c_str());
    }
    groups_.push_back(group);
    return groups_.back();
}

void meet_asleep(MPI_Comm comm, const std::function<void()>& waiting)
{
    MPI_Request request;
    MPI_Ibarrier(comm, &request);
    for (int all_here = 0;;) {
        MPI_Test(&request, &all_here, MPI_STATUS_IGNORE);
        if (all_here) return;
        waiting();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

} // namespace shardline
