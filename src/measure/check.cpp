#include "measure/check.hpp"

#include "measure/bfloat16.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace shardline {

namespace {

/// Weights in {±1 … ±8}: none is zero, so that an error in any element reaches its row's sum.
std::vector<double> random_weights(int64_t n, uint64_t seed)
{
    std::vector<double> weights(static_cast<size_t>(n));
    uint64_t state = seed;
    for (double& weight : weights) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const auto random = static_cast<int>(state >> 60);
        weight = random < 8 ? random - 8 : random - 7;
    }
    return weights;
}

double value(float x) { return x; }
double value(double x) { return x; }
double value(bfloat16 x) { return to_float(x); }

/// Row sums M·v and |M|·|v| of a matrix.
struct RowSums {
    std::vector<double> sum, magnitude;
};

/// `row_stride` elements from one row of M to the next, `column_stride` from one column to the next.
template <class T>
RowSums row_sums(const T* M, int64_t rows, const std::vector<double>& v, int64_t row_stride, int64_t column_stride)
{
    RowSums out{std::vector<double>(static_cast<size_t>(rows)), std::vector<double>(static_cast<size_t>(rows))};
    for (int64_t i = 0; i < rows; ++i) {
        double sum = 0, magnitude = 0;
        const T* element = M + i * row_stride;
        for (double weight : v) {
            const double term = value(*element) * weight;
            element += column_stride;
            sum += term;
            magnitude += std::abs(term);
        }
        out.sum[static_cast<size_t>(i)] = sum;
        out.magnitude[static_cast<size_t>(i)] = magnitude;
    }
    return out;
}

template <class T>
RowSums row_sums(const T* M, int64_t rows, const std::vector<double>& v)
{
    return row_sums(M, rows, v, static_cast<int64_t>(v.size()), 1);
}

RowSums row_sums_of_Z(const Operands& o, const Buffer& Z, const std::vector<double>& v)
{
    const bool by_rows = o.Z_order == MatrixOrder::row_major;
    const int64_t row_stride = by_rows ? o.F : 1, column_stride = by_rows ? 1 : o.B;
    if (o.result_type() == ElementType::f64) return row_sums(Z.as<double>(), o.B, v, row_stride, column_stride);
    return row_sums(Z.as<float>(), o.B, v, row_stride, column_stride);
}

/// X·(Y·v) of this rank's shard: integers below 2^53, so exact in double.
template <class T>
RowSums product_with(const Operands& o, const std::vector<double>& v)
{
    const RowSums Yv = row_sums(o.Y.as<T>(), o.shard.width, v);
    RowSums XYv = row_sums(o.X.as<T>(), o.B, Yv.sum);
    XYv.magnitude = row_sums(o.X.as<T>(), o.B, Yv.magnitude).magnitude;
    return XYv;
}

RowSums expected_partial(const Operands& o, const std::vector<double>& v)
{
    switch (o.compute_type) {
    case ElementType::f32: return product_with<float>(o, v);
    case ElementType::f64: return product_with<double>(o, v);
    case ElementType::bf16: return product_with<bfloat16>(o, v);
    }
    return {};
}

/// Unit round-off.
double epsilon_of(ElementType type)
{
    switch (type) {
    case ElementType::f32: return 0x1p-24;
    case ElementType::f64: return 0x1p-53;
    case ElementType::bf16: return 0x1p-9;
    }
    return 0;
}

struct Worst {
    double excess = -1; ///< error − bound of the worst row; infinity for NaN
    double error = 0, bound = 0;

    void see(double got, double expected, double allowed)
    {
        const double difference = std::abs(got - expected);
        const double its_excess =
            std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference - allowed;
        if (its_excess > excess) *this = {its_excess, difference, allowed};
    }
};

uint64_t fingerprint(const void* data, int64_t bytes)
{
    uint64_t hash = 14695981039346656037u; // FNV-1a, eight bytes at a time
    const char* at = static_cast<const char*>(data);
    for (; bytes > 0; at += 8, bytes -= 8) {
        uint64_t word = 0;
        std::memcpy(&word, at, static_cast<size_t>(bytes < 8 ? bytes : 8));
        hash = (hash ^ word) * 1099511628211u;
        hash ^= hash >> 29;
    }
    return hash;
}

std::vector<int32_t> ranks_unlike_root(uint64_t mine, MPI_Comm control)
{
    int rank = 0, P = 1;
    MPI_Comm_rank(control, &rank);
    MPI_Comm_size(control, &P);
    std::vector<uint64_t> all(rank == 0 ? static_cast<size_t>(P) : 0);
    MPI_Gather(&mine, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, 0, control);
    std::vector<int32_t> unlike;
    for (size_t r = 1; r < all.size(); ++r)
        if (all[r] != all[0]) unlike.push_back(static_cast<int32_t>(r));
    return unlike;
}

} // namespace

CheckResult check_step(const Operands& o, int64_t D, MPI_Comm control)
{
    int rank = 0, P = 1;
    MPI_Comm_rank(control, &rank);
    MPI_Comm_size(control, &P);
    const auto v = random_weights(o.F, static_cast<uint64_t>(D) * 2654435761u + 1);
    const bool exact_products = sums_are_exact(o.compute_type, D);
    const bool exact_sum = exact_products && sums_are_exact(o.wire_type, D) && o.wire_type != ElementType::bf16;
    const double product_epsilon =
        exact_products ? 0 : 4 * static_cast<double>(o.shard.width) * epsilon_of(o.result_type());
    const double sum_epsilon =
        exact_sum ? 0 : 2 * P * std::max(epsilon_of(o.wire_type), epsilon_of(o.result_type()));

    Worst worst;
    const RowSums expected = expected_partial(o, v);
    RowSums partial = row_sums_of_Z(o, o.Z_partial, v);
    for (size_t i = 0; i < expected.sum.size(); ++i)
        worst.see(partial.sum[i], expected.sum[i], product_epsilon * expected.magnitude[i]);

    int64_t columns = o.shard.width; // the sum of parts that are not all of D is a sum all the same
    MPI_Allreduce(MPI_IN_PLACE, &columns, 1, MPI_INT64_T, MPI_SUM, control);
    if (columns != D) worst.see(std::numeric_limits<double>::quiet_NaN(), 0, 0);

    const int rows = static_cast<int>(o.B);
    MPI_Allreduce(MPI_IN_PLACE, partial.sum.data(), rows, MPI_DOUBLE, MPI_SUM, control);
    MPI_Allreduce(MPI_IN_PLACE, partial.magnitude.data(), rows, MPI_DOUBLE, MPI_SUM, control);
    const RowSums total = row_sums_of_Z(o, o.Z, v);
    for (size_t i = 0; i < total.sum.size(); ++i)
        worst.see(total.sum[i], partial.sum[i], sum_epsilon * partial.magnitude[i]);

    struct {
        double excess;
        int rank;
    } location{worst.excess, rank};
    MPI_Allreduce(MPI_IN_PLACE, &location, 1, MPI_DOUBLE_INT, MPI_MAXLOC, control);
    CheckResult result{worst.error, worst.bound, location.rank, {}};
    MPI_Bcast(&result.max_error, 1, MPI_DOUBLE, location.rank, control);
    MPI_Bcast(&result.bound, 1, MPI_DOUBLE, location.rank, control);
    result.dissenting_ranks =
        ranks_unlike_root(fingerprint(o.Z.as<void>(), o.elements_of_Z() * bytes_of(o.result_type())), control);
    return result;
}

} // namespace shardline
