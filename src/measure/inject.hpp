#pragma once

#include "experiment/experiment.hpp"
#include "measure/operands.hpp"
#include "measure/timed_step.hpp"

#include <cstdint>

namespace shardline {

/// Makes the fault that an experiment's [inject] asks for, on the rank it names, before or after a timed region and
/// never in it. Does nothing where nothing is asked for.
class Injector {
public:
    Injector(const Injection& injection, int rank) : injection_(injection), mine_(injection.rank == rank) {}

    /// hang, throw: at the start of visit number `visit`.
    void before_visit(int64_t visit) const;
    /// late_rank: just before the common start.
    void before_start(int64_t visit) const;
    /// slow_rank, drift, clock_step: in the clock readings.
    void after_repetition(int64_t visit, Readings& t) const;
    /// wrong_value, nan: in the result that is about to be checked.
    void before_check(int64_t visit, const Operands& operands) const;

private:
    bool active(const char* what, int64_t visit) const;

    Injection injection_;
    bool mine_;
};

} // namespace shardline
