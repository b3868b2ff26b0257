#pragma once

// The points of a run. Pure functions: the ranks build the same plan from the same numbers.

#include "experiment/experiment.hpp"
#include "model/run_data.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace shardline {

/// What has one crossover with each number of ranks.
struct Shape {
    int64_t B, F;
    ElementType compute_type = ElementType::f32, wire_type = ElementType::f32;
};

/// Every pairing of the experiment's B and F and types.
std::vector<Shape> shapes_of(const Experiment& experiment);

/// The numbers of ranks that share D, ascending, of a job that has `job` ranks; at least one unless all that are listed are more.
std::vector<int32_t> ranks_of(const Experiment& experiment, int32_t job);

/// Those listed that the job does not have.
std::vector<int64_t> ranks_left_out(const Experiment& experiment, int32_t job);

/// Bytes of Z on the wire: the law's V = s·B·F.
int64_t message_bytes(Shape shape);

/// A point of the sweep over D. How the strategy cuts its work there is left open.
Point sweep_point(Shape shape, int64_t D, int32_t P, const std::string& strategy);

/// Calibration of C: a matmul of width K on every rank, so D = K·P. Nothing travels: one point for all wire types.
Point matmul_point(const Experiment& experiment, Shape shape, int64_t K, int32_t P);

/// Calibration of W: `bytes` each way in every segment size worth trying, the whole message last.
std::vector<Point> exchange_points(int64_t bytes, int32_t P);

/// Calibration of each strategy's allreduce at sizes around V but never V itself, whole elements.
std::vector<Point> allreduce_points(const Experiment& experiment, Shape shape, int32_t P);

/// Roofline: for each type arithmetic in registers, square matmuls up to F, a dot product and, for every B, F and D (of a rank; "auto":
/// D = F) of the experiment, a matmul from memory; and one triad in f64. Vectors of `vector_bytes` on each rank. bf16 has
/// matmuls only.
std::vector<Point> roofline_points(const Experiment& experiment, int64_t vector_bytes, int32_t P);

/// Links: every size forth, back and both ways in each of so many rounds; all ranks at once, the largest sizes shared among
/// their peers; and multiply-adds in registers, long enough to show whether a rank has its core to itself.
std::vector<Point> link_points(const Experiment& experiment, size_t rounds, int32_t P);

/// Allreduce: exchanges that give W, and every size of the experiment, in whole elements, by the MPI's own choice and by each of the
/// named algorithms.
std::vector<Point> collective_points(const Experiment& experiment, std::span<const std::string> algorithms, int32_t P);

/// D values in log steps around a predicted crossover, denser near it: positive multiples of P, ascending, distinct.
std::vector<int64_t> D_around(double predicted_D, int32_t P);

/// D values to add to `measured` (ascending) given where the curves now seem to cross (0: all points are
/// compute-bound, infinity: all communication-bound). Empty when the crossover is bracketed closely enough.
std::vector<int64_t> D_to_add(const std::vector<int64_t>& measured, double crossing, int32_t P);

/// The order in which a pass visits the points, as their indices: by a hash of seed, pass and what the point is, so that the
/// same points come in the same order whatever other points there are.
std::vector<int32_t> visiting_order(std::span<const Point> points, uint64_t seed, int32_t pass);

} // namespace shardline
