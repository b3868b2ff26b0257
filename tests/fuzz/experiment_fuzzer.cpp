// The experiment reader against any bytes: an experiment or one line of refusal. What it accepts, it must be able to write
// down and read back, since a run stores it so and goes on from there.

#include "experiment/experiment.hpp"
#include "model/error.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace shardline {
namespace {

[[noreturn]] void fail(const char* what, const std::string& text)
{
    std::fprintf(stderr, "%s:\n%s\n", what, text.c_str());
    std::abort();
}

/// The file's text up to the first NUL, which read_text_file refuses; an argument of --set up to each next one.
std::vector<std::string> split(const std::string& input)
{
    std::vector<std::string> parts;
    size_t begin = 0;
    for (size_t end; (end = input.find('\0', begin)) != std::string::npos; begin = end + 1) parts.push_back(input.substr(begin, end - begin));
    parts.push_back(input.substr(begin));
    return parts;
}

void read(const std::string& input)
{
    std::vector<std::string> overrides = split(input);
    const std::string text = overrides.front();
    overrides.erase(overrides.begin());
    Experiment experiment;
    try {
        experiment = parse_experiment(text, "fuzzed.toml", overrides);
    } catch (const InputError& error) {
        // A key may hold a line break, as TOML's "\n"; it is for the printer to make it visible.
        if (*error.what() == '\0') fail("refused without a word", text);
        return;
    }
    const std::string effective = to_toml(experiment);
    try {
        const std::string again = to_toml(parse_experiment(effective, "effective.toml", {}));
        if (again != effective) fail("read back as another experiment", effective + "\n---\n" + again);
    } catch (const InputError& error) {
        fail(error.what(), effective);
    }
}

} // namespace
} // namespace shardline

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    shardline::read({reinterpret_cast<const char*>(data), size});
    return 0;
}
