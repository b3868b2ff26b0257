#include "measure/inject.hpp"

#include <chrono>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <thread>

namespace shardline {

namespace {

void store_first(const Operands& o, double value)
{
    if (o.result_type() == ElementType::f64)
        o.Z.as<double>()[0] = value;
    else
        o.Z.as<float>()[0] = static_cast<float>(value);
}

/// Makes one part of a repetition longer by a factor and moves what follows.
void stretch(int64_t begin_ns, int64_t& end_ns, double factor, int64_t& moved_ns)
{
    if (begin_ns < 0) return;
    moved_ns = std::llround(static_cast<double>(end_ns - begin_ns) * (factor - 1));
    end_ns += moved_ns;
}

} // namespace

bool Injector::active(const char* what, int64_t visit) const
{
    return mine_ && injection_.what == what && visit >= injection_.visit;
}

void Injector::before_visit(int64_t visit) const
{
    if (active("throw", visit)) throw std::runtime_error("thrown on purpose, as [inject] asks");
    while (active("hang", visit)) std::this_thread::sleep_for(std::chrono::seconds(1));
}

void Injector::before_start(int64_t visit) const
{
    if (active("late_rank", visit)) std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(injection_.amount));
}

void Injector::after_repetition(int64_t visit, Readings& t) const
{
    int64_t moved_ns = 0;
    if (active("slow_rank", visit)) {
        stretch(t.comp_begin_ns, t.comp_end_ns, injection_.amount, moved_ns);
        if (t.comm_begin_ns >= 0) t.comm_begin_ns += moved_ns, t.comm_end_ns += moved_ns;
    }
    if (active("drift", visit)) {
        const double factor = 1 + injection_.amount / 100 * static_cast<double>(visit - injection_.visit);
        stretch(t.comp_begin_ns, t.comp_end_ns, factor, moved_ns);
        if (t.comm_begin_ns >= 0) t.comm_begin_ns += moved_ns, t.comm_end_ns += moved_ns;
        stretch(t.comm_begin_ns, t.comm_end_ns, factor, moved_ns);
    }
    if (active("clock_step", visit)) {
        // The clock jumps while the last part runs.
        int64_t& last = t.comm_end_ns >= 0 ? t.comm_end_ns : t.comp_end_ns;
        last += std::llround(injection_.amount * 1e6);
    }
}

void Injector::before_check(int64_t visit, const Operands& operands) const
{
    if (active("wrong_value", visit)) store_first(operands, 1e6);
    if (active("nan", visit)) store_first(operands, std::numeric_limits<double>::quiet_NaN());
}

} // namespace shardline
