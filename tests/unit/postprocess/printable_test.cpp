#include "postprocess/printable.hpp"
#include "postprocess/utf8.hpp"

#include <gtest/gtest.h>

#include <random>

namespace shardline {
namespace {

using namespace std::string_literals;

TEST(Printable, LeavesOrdinaryTextAlone)
{
    for (const std::string text : {"", "node-17.cluster", "Gr\xc3\xb6\xc3\x9f""e \xe2\x82\xac", "\xe8\xa8\x88\xe7\xae\x97", "C:\\x", "\xf0\x9f\x98\x80"})
        EXPECT_EQ(printable(text), text);
}

TEST(Printable, EscapesWhatATerminalObeys)
{
    EXPECT_EQ(printable("\x1b[2J\x1b]0;title\x07"), "\\x1b[2J\\x1b]0;title\\x07");
    EXPECT_EQ(printable("a\nb\rc\td"), "a\\nb\\rc\\td");
    EXPECT_EQ(printable("a\0b"s), "a\\x00b");
    EXPECT_EQ(printable("\x7f"), "\\x7f");
    EXPECT_EQ(printable("\xc2\x9b""31m"), "\\u{9b}31m"); // CSI in one character
}

TEST(Printable, EscapesWhatHidesOrReordersText)
{
    EXPECT_EQ(printable("\xe2\x80\xae""abc"), "\\u{202e}abc"); // right-to-left override
    EXPECT_EQ(printable("\xe2\x81\xa6""abc"), "\\u{2066}abc");
    EXPECT_EQ(printable("a\xe2\x80\x8b""b"), "a\\u{200b}b");   // zero width
    EXPECT_EQ(printable("a\xe2\x80\xa8""b"), "a\\u{2028}b");   // line separator
    EXPECT_EQ(printable("\xef\xbb\xbf"), "\\u{feff}");
}

TEST(Printable, EscapesBytesThatAreNotUtf8)
{
    EXPECT_EQ(printable("\xff"), "\\xff");
    EXPECT_EQ(printable("a\xc3"), "a\\xc3");                  // cut short
    EXPECT_EQ(printable("\xc3("), "\\xc3(");
    EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");           // overlong ESC
    EXPECT_EQ(printable("\xe0\x80\x9b"), "\\xe0\\x80\\x9b");
    EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a pair
    EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80"); // beyond Unicode
}

TEST(Printable, NoBytesWhateverLetAControlCharacterThrough)
{
    std::mt19937 random(1);
    for (int i = 0; i < 20'000; ++i) {
        std::string bytes(random() % 12, '\0');
        for (char& byte : bytes) byte = static_cast<char>(random() % 256);
        const std::string safe = printable(bytes);
        for (std::string_view rest = safe; !rest.empty();) {
            const Utf8Character c = first_character(rest);
            ASSERT_TRUE(c.valid);
            ASSERT_GE(c.code_point, 0x20u);
            ASSERT_FALSE(c.code_point >= 0x7f && c.code_point < 0xa0);
            rest.remove_prefix(c.bytes);
        }
    }
}

TEST(CharacterCount, CountsCharactersNotBytes)
{
    EXPECT_EQ(character_count(""), 0u);
    EXPECT_EQ(character_count("50.5 \xc2\xb1 0.2 \xc2\xb5s"), 13u);
    EXPECT_EQ(character_count("\xff\xff"), 2u);
}

} // namespace
} // namespace shardline
