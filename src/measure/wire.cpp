#include "measure/wire.hpp"

#include "measure/bfloat16.hpp"

namespace shardline {

namespace {

void sum_bfloat16(void* in, void* inout, int* n, MPI_Datatype*)
{
    const auto* a = static_cast<const bfloat16*>(in);
    auto* b = static_cast<bfloat16*>(inout);
    for (int i = 0; i < *n; ++i) b[i] = to_bfloat16(to_float(a[i]) + to_float(b[i]));
}

float widen(float x) { return x; }
double widen(double x) { return x; }
float widen(bfloat16 x) { return to_float(x); }

template <class Wide>
void narrow(Wide x, float& out) { out = static_cast<float>(x); }
template <class Wide>
void narrow(Wide x, double& out) { out = x; }
template <class Wide>
void narrow(Wide x, bfloat16& out) { out = to_bfloat16(static_cast<float>(x)); }

template <class From, class To>
void convert_elements(const void* in, void* out, int64_t n)
{
    const auto* a = static_cast<const From*>(in);
    auto* b = static_cast<To*>(out);
    for (int64_t i = 0; i < n; ++i) narrow(widen(a[i]), b[i]);
}

template <class From>
void convert_from(const void* in, void* out, ElementType to, int64_t n)
{
    switch (to) {
    case ElementType::f32: return convert_elements<From, float>(in, out, n);
    case ElementType::f64: return convert_elements<From, double>(in, out, n);
    case ElementType::bf16: return convert_elements<From, bfloat16>(in, out, n);
    }
}

} // namespace

WireType::WireType(ElementType type) : element_(type), datatype_(MPI_FLOAT), sum_(MPI_SUM)
{
    if (type == ElementType::f64) datatype_ = MPI_DOUBLE;
    if (type == ElementType::bf16) {
        datatype_ = MPI_UINT16_T;
        MPI_Op_create(sum_bfloat16, /*commute=*/1, &sum_);
    }
}

WireType::~WireType()
{
    if (element_ == ElementType::bf16) MPI_Op_free(&sum_);
}

void convert(const void* in, ElementType from, void* out, ElementType to, int64_t n)
{
    switch (from) {
    case ElementType::f32: return convert_from<float>(in, out, to, n);
    case ElementType::f64: return convert_from<double>(in, out, to, n);
    case ElementType::bf16: return convert_from<bfloat16>(in, out, to, n);
    }
}

} // namespace shardline
