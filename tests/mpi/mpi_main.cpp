// main of the tests that run on several ranks: every rank returns the same code, the worst of all.

#include "measure/session.hpp"

#include <gtest/gtest.h>

namespace shardline::test {
Session* session = nullptr; // the tests' way to the communicators
}

int main(int argc, char** argv)
{
    shardline::Session session(argc, argv);
    shardline::test::session = &session;
    testing::InitGoogleTest(&argc, argv);
    if (!session.is_root()) { // one report is enough; failures are printed by every rank through their own printer
        auto& listeners = testing::UnitTest::GetInstance()->listeners();
        delete listeners.Release(listeners.default_result_printer());
        class FailurePrinter : public testing::EmptyTestEventListener {
            void OnTestPartResult(const testing::TestPartResult& result) override
            {
                if (result.failed()) std::fprintf(stderr, "%s:%d: %s\n", result.file_name(), result.line_number(), result.summary());
            }
        };
        listeners.Append(new FailurePrinter);
    }
    int code = RUN_ALL_TESTS();
    MPI_Allreduce(MPI_IN_PLACE, &code, 1, MPI_INT, MPI_MAX, session.control());
    return code;
}
