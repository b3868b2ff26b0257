#include "apps/progress.hpp"

#include "measure/clock.hpp"
#include "postprocess/text_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <unistd.h>

namespace shardline {

namespace {

std::string text_of(const Progress& p)
{
    if (p.visits_planned == 0) return fmt::format("{}: point {}", p.phase, p.visits_done);
    return fmt::format("{}: {} of {} visits, {} left", p.phase, p.visits_done, p.visits_planned, duration_text(p.seconds_left));
}

} // namespace

bool stderr_reaches_a_terminal()
{
    if (isatty(STDERR_FILENO)) return true;
    char target[256] = "";
    const std::string link = fmt::format("/proc/{}/fd/2", getppid());
    if (readlink(link.c_str(), target, sizeof target - 1) < 0) return false;
    const std::string name = target;
    return name.starts_with("/dev/pts/") || name.starts_with("/dev/tty");
}

ProgressDisplay::ProgressDisplay() : on_terminal_(stderr_reaches_a_terminal()) {}

ProgressDisplay::~ProgressDisplay()
{
    if (bar_open_) std::fputs("\r\x1b[K", stderr);
}

void ProgressDisplay::show(const Progress& progress)
{
    const int64_t interval_ns = on_terminal_ ? 200'000'000 : 10'000'000'000;
    const int64_t now = now_ns();
    if (last_shown_ns_ != 0 && now - last_shown_ns_ < interval_ns) return;
    last_shown_ns_ = now;
    if (!on_terminal_) {
        std::fputs(("shardline-run: " + text_of(progress) + "\n").c_str(), stderr);
        return;
    }
    constexpr int64_t width = 20;
    const int64_t filled =
        progress.visits_planned == 0 ? 0 : std::clamp<int64_t>(width * progress.visits_done / progress.visits_planned, 0, width);
    std::fputs(fmt::format("\r[{:#<{}}{:.<{}}] {}\x1b[K", "", filled, "", width - filled, text_of(progress)).c_str(), stderr);
    std::fflush(stderr);
    bar_open_ = true;
}

} // namespace shardline
