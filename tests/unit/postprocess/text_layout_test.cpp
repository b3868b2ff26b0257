#include "postprocess/text_layout.hpp"

#include <gtest/gtest.h>

namespace shardline {
namespace {

TEST(Significant, KeepsItsDigits)
{
    EXPECT_EQ(significant(50.5, 3), "50.5");
    EXPECT_EQ(significant(0.049, 3), "0.0490");
    EXPECT_EQ(significant(9.996, 3), "10.0");
    EXPECT_EQ(significant(10612.4, 3), "10612");
    EXPECT_EQ(significant(1.97e14, 3), "1.97e+14");
    EXPECT_EQ(significant(-2.5, 2), "-2.5");
    EXPECT_EQ(significant(0, 3), "0");
}

TEST(TimeText, ChoosesTheUnit)
{
    EXPECT_EQ(time_text(1.011e-3), "1.01 ms");
    EXPECT_EQ(time_text(0.9999e-3), "1.00 ms");
    EXPECT_EQ(time_text(41e-6), "41.0 \xc2\xb5s");
    EXPECT_EQ(time_text(3e-9), "3.00 ns");
    EXPECT_EQ(time_text(90061), "90061 s");
}

TEST(Counted, HasANoun)
{
    EXPECT_EQ(counted(1, "rank"), "1 rank");
    EXPECT_EQ(counted(2, "rank"), "2 ranks");
}

TEST(Wrapped, BreaksBetweenWords)
{
    EXPECT_EQ(wrapped("one two three", 9, 2), "  one two\n  three\n");
    EXPECT_EQ(wrapped("", 9, 2), "  \n");
    EXPECT_EQ(wrapped("a  b", 9, 0), "a b\n");
}

TEST(Wrapped, BreaksWordsThatAreLongerThanALine)
{
    EXPECT_EQ(wrapped("abcdefgh", 5, 2), "  abc\n  def\n  gh\n");
    EXPECT_EQ(wrapped("\xc2\xb5\xc2\xb5\xc2\xb5", 2, 0), "\xc2\xb5\xc2\xb5\n\xc2\xb5\n");
}

TEST(ShortenedList, SaysHowManyMore)
{
    EXPECT_EQ(shortened_list({"a", "b"}, 2), "a, b");
    EXPECT_EQ(shortened_list({"a", "b", "c", "d"}, 2), "a, b and 2 more");
    EXPECT_EQ(shortened_list({}, 2), "");
}

TEST(TextTable, LinesUpByCharacters)
{
    TextTable table;
    table.add_column("D", TextTable::Align::right);
    table.add_column("time", TextTable::Align::right);
    table.add_column("side", TextTable::Align::left);
    table.add_row({"512", "1.0 \xc2\xb1 0.1", "comm"});
    table.add_row({"10240", "100.0 \xc2\xb1 0.1", "comp"});
    EXPECT_EQ(table.text(1), "     D         time  side\n"
                             "   512    1.0 \xc2\xb1 0.1  comm\n"
                             " 10240  100.0 \xc2\xb1 0.1  comp\n");
}

TEST(TextTable, BreaksTheLastColumnAtTheWidth)
{
    TextTable table;
    table.add_column("D", TextTable::Align::right);
    table.add_column("", TextTable::Align::left);
    table.add_row({"512", "twenty characters in a line"});
    table.add_row({"8", ""});
    EXPECT_EQ(table.text(1, 26), "   D\n"
                                 " 512  twenty characters in\n"
                                 "      a line\n"
                                 "   8\n");
    EXPECT_EQ(table.text(1, 25), table.text(1)) << "no room for words";
}

TEST(TextTable, WithoutHeadingsStartsWithTheFirstRow)
{
    TextTable table;
    table.add_column("", TextTable::Align::left);
    table.add_row({"x"});
    EXPECT_EQ(table.text(0), "x\n");
}

TEST(MessageText, IsALineOrLinesThatFit)
{
    const std::string message = "warning: ranks 0 and 1 share a core, so that the matmul of one waits for that of the other: start fewer\x1b[31m";
    EXPECT_EQ(message_text("shardline", message), "shardline: warning: ranks 0 and 1 share a core, so that the matmul of one waits for that of the other: start fewer\\x1b[31m\n");
    EXPECT_EQ(message_text("shardline", message, 60), "shardline: warning: ranks 0 and 1 share a core, so that\n"
                                                      "  the matmul of one waits for that of the other: start\n"
                                                      "  fewer\\x1b[31m\n");
}

} // namespace
} // namespace shardline
