#include "measure/segmented_ring.hpp"

#include <algorithm>
#include <cstring>

namespace shardline {

namespace {

/// Each lane has a receive posted for every step; beyond some hundreds MPI spends more time looking through them than they save.
constexpr int64_t most_lanes = 256;

int64_t ceiling(int64_t a, int64_t b) { return (a + b - 1) / b; }

} // namespace

SegmentedRing::SegmentedRing(const WireType& wire, MPI_Comm comm)
    : wire_(wire), comm_(comm), element_bytes_(bytes_of(wire.element()))
{
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &ranks_);
    steps_ = 2 * (ranks_ - 1);
}

void SegmentedRing::prepare(const std::vector<int64_t>& tile_elements, int64_t segment_bytes)
{
    int64_t total_block = 0;
    for (int64_t elements : tile_elements) total_block += ceiling(elements, ranks_);
    const int64_t segment = std::max({int64_t{1}, segment_bytes / element_bytes_, ceiling(total_block, most_lanes)});
    lanes_.clear();
    first_lane_of_tile_.assign(1, 0);
    first_element_of_tile_.assign(1, 0);
    int64_t begin = 0, between = 0;
    for (int64_t elements : tile_elements) {
        const int64_t block = ceiling(elements, ranks_);
        // Equal segments: a short last one would cost as much as a long one in start-up.
        const int64_t segments = std::max(int64_t{1}, ceiling(block, segment)), length = ceiling(block, segments);
        for (int64_t offset = 0; offset < block && ranks_ > 1; offset += length) {
            lanes_.push_back({begin, block, elements, offset, std::min(length, block - offset), between});
            between += (ranks_ - 2) * length;
        }
        begin += elements;
        first_lane_of_tile_.push_back(lanes_.size());
        first_element_of_tile_.push_back(begin);
    }
    between_.grow_to(between * element_bytes_);
    requests_.assign(2 * lanes_.size() * static_cast<size_t>(steps_), MPI_REQUEST_NULL);
    completed_.resize(requests_.size());
    early_.assign(requests_.size() / 2, 0);
}

/// Of the block of the rank that is so many behind on the ring; −1 is the next one. The last block of a tile may be shorter.
SegmentedRing::Segment SegmentedRing::segment_of(const Lane& lane, int behind) const
{
    const int64_t block = ((rank_ - behind) % ranks_ + ranks_) % ranks_;
    const int64_t at = block * lane.block + lane.offset;
    return {lane.begin + std::min(at, lane.tile), std::clamp(lane.tile - at, int64_t{0}, lane.length)};
}

/// In step k this rank receives block rank − 1 − k, so that its own block rank + 1 is summed at the end of the first half, and
/// block rank − k' in step k' of the second.
SegmentedRing::Segment SegmentedRing::received_in(const Lane& lane, int step) const
{
    const int half = ranks_ - 1;
    return segment_of(lane, step < half ? step + 1 : step - half);
}

/// Where a step's message lands: the sum of the own block and what only passes through on its way to all go into the result;
/// partial sums that travel on have a place of their own, since the result of their block will come to the other one.
char* SegmentedRing::landing(const Lane& lane, int step, int64_t at) const
{
    if (step >= ranks_ - 2) return receive_ + at * element_bytes_;
    return between_.as<char>() + (lane.between + step * lane.length) * element_bytes_;
}

void SegmentedRing::begin(const void* send, void* receive)
{
    send_ = static_cast<const char*>(send);
    receive_ = static_cast<char*>(receive);
    tiles_started_ = 0;
    open_ = requests_.size();
    const int previous = (rank_ + ranks_ - 1) % ranks_;
    for (size_t lane = 0; lane < lanes_.size(); ++lane)
        for (int step = 0; step < steps_; ++step) {
            const Segment segment = received_in(lanes_[lane], step);
            const size_t message = lane * static_cast<size_t>(steps_) + static_cast<size_t>(step);
            MPI_Irecv(landing(lanes_[lane], step, segment.at), static_cast<int>(segment.length), wire_.datatype(), previous,
                      static_cast<int>(message), comm_, &requests_[message]);
        }
}

/// What a rank sends in a step, its successor receives in that step: the block one ahead of the own.
void SegmentedRing::send_step(size_t lane, int step, const char* from)
{
    const int half = ranks_ - 1;
    const int64_t length = segment_of(lanes_[lane], step < half ? step : step - half - 1).length;
    const size_t message = lane * static_cast<size_t>(steps_) + static_cast<size_t>(step);
    MPI_Isend(from, static_cast<int>(length), wire_.datatype(), (rank_ + 1) % ranks_, static_cast<int>(message), comm_,
              &requests_[requests_.size() / 2 + message]);
}

void SegmentedRing::start_tile()
{
    const size_t first = first_lane_of_tile_[tiles_started_], end = first_lane_of_tile_[tiles_started_ + 1];
    for (size_t lane = first; lane < end; ++lane)
        send_step(lane, 0, send_ + segment_of(lanes_[lane], 0).at * element_bytes_);
    for (size_t message = first * static_cast<size_t>(steps_); message < end * static_cast<size_t>(steps_); ++message) {
        if (!early_[message]) continue;
        early_[message] = 0;
        add_and_pass_on(message / static_cast<size_t>(steps_), static_cast<int>(message % static_cast<size_t>(steps_)));
    }
    if (ranks_ == 1) { // the sum over one rank
        const int64_t from = first_element_of_tile_[tiles_started_] * element_bytes_;
        const int64_t to = first_element_of_tile_[tiles_started_ + 1] * element_bytes_;
        std::memcpy(receive_ + from, send_ + from, static_cast<size_t>(to - from));
    }
    ++tiles_started_;
}

/// A rank that is ahead may send of a tile that is not computed here yet.
void SegmentedRing::received(size_t lane, int step)
{
    if (lane < first_lane_of_tile_[tiles_started_])
        add_and_pass_on(lane, step);
    else
        early_[lane * static_cast<size_t>(steps_) + static_cast<size_t>(step)] = 1;
}

/// Adds where the message is a partial sum, and passes it on.
void SegmentedRing::add_and_pass_on(size_t lane, int step)
{
    const Segment segment = received_in(lanes_[lane], step);
    char* const data = landing(lanes_[lane], step, segment.at);
    if (step < ranks_ - 1)
        MPI_Reduce_local(send_ + segment.at * element_bytes_, data, static_cast<int>(segment.length), wire_.datatype(), wire_.sum());
    if (step + 1 < steps_) send_step(lane, step + 1, data);
}

/// True when nothing is open any more.
bool SegmentedRing::absorb(int completed)
{
    for (int i = 0; i < completed; ++i) {
        const auto index = static_cast<size_t>(completed_[static_cast<size_t>(i)]);
        if (index < requests_.size() / 2)
            received(index / static_cast<size_t>(steps_), static_cast<int>(index % static_cast<size_t>(steps_)));
    }
    open_ -= static_cast<size_t>(std::max(completed, 0));
    return open_ == 0;
}

bool SegmentedRing::progress()
{
    if (open_ == 0) return true;
    int completed = 0;
    MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &completed, completed_.data(), MPI_STATUSES_IGNORE);
    return completed != MPI_UNDEFINED && absorb(completed);
}

bool SegmentedRing::idle() const
{
    const size_t messages_to_come = (lanes_.size() - first_lane_of_tile_[tiles_started_]) * static_cast<size_t>(steps_);
    return open_ <= 2 * messages_to_come;
}

void SegmentedRing::finish()
{
    while (open_ > 0) {
        int completed = 0;
        MPI_Waitsome(static_cast<int>(requests_.size()), requests_.data(), &completed, completed_.data(), MPI_STATUSES_IGNORE);
        absorb(completed);
    }
}

} // namespace shardline
