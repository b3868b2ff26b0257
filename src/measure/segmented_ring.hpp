#pragma once

#include "measure/buffers.hpp"
#include "measure/wire.hpp"

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace shardline {

/// An allreduce of our own: reduce-scatter, then allgather, around the ring of ranks (each sends 2·(P−1)/P of the bytes),
/// cut into segments that travel independently of each other, so that the link is kept busy while ranks add. The data may
/// be started in tiles, as they become ready.
///
/// Of each tile every rank owns one of P blocks at the end of the first half. Segment i of all blocks makes a lane:
/// a chain of 2·(P−1) messages on every rank, each sent as soon as the one before it has come in.
class SegmentedRing {
public:
    /// Calls no MPI. `comm` must outlive the ring, and no other traffic on it may overlap a reduction.
    SegmentedRing(const WireType& wire, MPI_Comm comm);

    /// Prepares for reductions of tiles of that many elements each, one after the other in memory, in segments of about
    /// `segment_bytes`; longer ones where there would be more than a few hundred. Not to be timed.
    void prepare(const std::vector<int64_t>& tile_elements, int64_t segment_bytes);

    /// Begins to reduce: receive = sum of send over the ranks, all of `receive` overwritten. Nothing is sent before start_tile.
    void begin(const void* send, void* receive);
    /// That tile of `send` may be read from now on. Tiles in the order of prepare, the same on all ranks.
    void start_tile();
    /// Moves what has come in; does not wait. True when the whole reduction has ended here.
    bool progress();
    /// True while nothing is under way: every tile started so far is done.
    bool idle() const;
    /// Waits for the end; all tiles must have been started.
    void finish();

    int64_t memory_bytes() const { return between_.bytes(); }

private:
    struct Lane {
        int64_t begin = 0;  ///< of the tile, elements
        int64_t block = 0;  ///< elements of the tile's largest block
        int64_t tile = 0;   ///< elements of the tile
        int64_t offset = 0; ///< of the segment in its block
        int64_t length = 0; ///< of the segment, at most
        int64_t between = 0; ///< where its partial sums stand that are passed on, elements
    };

    /// A lane's segment of one block: where it stands in the data, and how much of it there is.
    struct Segment {
        int64_t at, length;
    };

    Segment segment_of(const Lane& lane, int behind) const;
    Segment received_in(const Lane& lane, int step) const;
    void send_step(size_t lane, int step, const char* from);
    void received(size_t lane, int step);
    void add_and_pass_on(size_t lane, int step);
    char* landing(const Lane& lane, int step, int64_t at) const;
    bool absorb(int completed);

    const WireType& wire_;
    MPI_Comm comm_;
    int rank_ = 0, ranks_ = 1, steps_ = 0;
    int64_t element_bytes_;
    std::vector<Lane> lanes_;
    std::vector<size_t> first_lane_of_tile_;  ///< and one more: the number of lanes
    std::vector<int64_t> first_element_of_tile_; ///< and one more: the number of elements
    Buffer between_;
    const char* send_ = nullptr;
    char* receive_ = nullptr;
    size_t tiles_started_ = 0;
    std::vector<uint8_t> early_;        ///< [lane][step]: came before the own tile was ready to be added
    std::vector<MPI_Request> requests_; ///< receives [lane][step], then sends [lane][step]
    std::vector<int> completed_;        ///< indices
    size_t open_ = 0;                   ///< requests not yet completed, those not yet posted included
};

} // namespace shardline
