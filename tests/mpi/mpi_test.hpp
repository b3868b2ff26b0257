#pragma once

#include "measure/session.hpp"

namespace shardline::test {

extern Session* session;

} // namespace shardline::test
