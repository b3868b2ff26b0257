#pragma once

// The C interface of the BLAS, from the header found at configure time. Old ones do not say to C++ that they are C.
extern "C" {
#include SHARDLINE_CBLAS_HEADER
}
