// Each frame: show the moment, draw, wait for what the views asked for, draw again. Then the encoder gets the pixels.
#include "app/gui/window/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "app/gui/views/cluster/cluster_data.h"
#include "app/gui/views/machine/machine_play.h"
#include "app/gui/views/machine/machine_tour.h"
#include "app/gui/views/machine/many/cluster_step.h"
#include "app/gui/views/timeline/timeline_data.h"
#include "app/gui/window/canvas.h"
#include "app/gui/window/gif.h"
#include "core/base/diagnostic.h"
#include "core/base/units.h"
#include "core/system/feed.h"

namespace lockstep::gui {

namespace {

namespace fs = std::filesystem;

// Of what is waited for, Ctrl-C shall not be one.
constexpr double look_up_seconds = 0.1, most_wait_seconds = 120;
constexpr uint64_t most_kept = uint64_t{1} << 30;  // bytes of a GIF's frames before they are written

std::string ending_of(const std::string& file) {
    std::string ending = fs::path(file).extension().string();
    for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return ending;
}

struct Ended {};  // thrown where `goes_on` says so, caught in record()

class Camera {
  public:
    Camera(Shell& shell, const RecordOptions& options, const Moments& moments, const GoesOn& goes_on)
        : shell_(shell),
          options_(options),
          moments_(moments),
          goes_on_(goes_on),
          canvas_(shell, options.width, options.height, options.drawing) {
        for (int i = 0; i < 3; ++i) draw(0.1 * i), wait(0);  // what a first look asks for: fonts, a warp's history
    }

    // The pixels of frame k, rows from the top.
    std::span<const Color> take(int k, double share) {
        Session& session = shell_.session;
        moments_.show(k, session, shell_.focus);
        const double now = 1 + k / options_.frames_a_second;
        constexpr int most_looks = 6;
        for (int look = 0; look < most_looks; ++look) {
            const uint64_t seen = session.snapshot()->version;
            draw(now);
            wait(share);
            if (look > 0 && session.snapshot()->version == seen) break;
        }
        canvas_.read(pixels_);
        return pixels_;
    }

  private:
    void draw(double now) { canvas_.frame({}, now); }
    void wait(double share) {
        double waited = 0;
        do {
            if (goes_on_ && !goes_on_(share)) throw Ended();
        } while (!shell_.session.wait_until_idle(look_up_seconds) && (waited += look_up_seconds) < most_wait_seconds);
    }

    Shell& shell_;
    const RecordOptions& options_;
    const Moments& moments_;
    const GoesOn& goes_on_;
    Canvas canvas_;
    std::vector<Color> pixels_;
};

void write_gif(Camera& camera, const RecordOptions& options, int frames, const std::string& file, const GoesOn& goes_on) {
    constexpr double drawing = 0.9;  // of the work
    Gif gif(options.width, options.height);
    const auto until = [&](int k) { return static_cast<int>(std::lround(100.0 * k / options.frames_a_second)); };
    for (int k = 0; k < frames; ++k) {
        gif.add(camera.take(k, drawing * k / frames), until(k + 1) - until(k));
        if (gif.bytes_kept() > most_kept)
            throw Failure(
                fmt::format("what changes in the first {} of {} frames fills 1 GiB already: take fewer frames "
                            "(--speed, --fps) or a smaller --size",
                            k + 1, frames));
    }
    const std::string whole = gif.encode([&](double share) { return !goes_on || goes_on(drawing + (1 - drawing) * share); });
    if (whole.empty()) throw Ended();
    if (const std::string why = system::write_durably(file, whole); !why.empty())
        throw Failure("cannot write '" + file + "': " + why);
}

fs::path ffmpeg() {
    return system::find_program({"ffmpeg"});
}

// The unfinished film: in the same folder, and gone when it is not finished.
struct Unfinished {
    fs::path path;
    ~Unfinished() {
        std::error_code error;
        fs::remove(path, error);
    }
};

void write_mp4(Camera& camera, const RecordOptions& options, int frames, const std::string& file) {
    const Unfinished part{fs::path(file).concat(".part")};
    // Most players want an even number of rows and columns, and colours at half of both.
    const std::vector<std::string> arguments = {"-y",
                                                "-nostdin",
                                                "-loglevel",
                                                "error",
                                                "-f",
                                                "rawvideo",
                                                "-pix_fmt",
                                                "rgba",
                                                "-s",
                                                fmt::format("{}x{}", options.width, options.height),
                                                "-r",
                                                fmt::format("{:.6g}", options.frames_a_second),
                                                "-i",
                                                "pipe:0",
                                                "-vf",
                                                "pad=ceil(iw/2)*2:ceil(ih/2)*2",
                                                "-pix_fmt",
                                                "yuv420p",
                                                "-movflags",
                                                "+faststart",
                                                "-f",
                                                "mp4",
                                                "file:" + part.path.string()};
    int k = 0;
    const system::ChildOutcome made = system::run_fed(
        {.program = ffmpeg(), .name = "ffmpeg", .arguments = arguments}, [&]() -> std::optional<std::string_view> {
            if (k == frames) return std::string_view();
            const std::span<const Color> pixels = camera.take(k, static_cast<double>(k) / frames);
            ++k;
            return std::string_view(reinterpret_cast<const char*>(pixels.data()), pixels.size_bytes());
        });
    if (!made.succeeded()) {
        std::string words = made.output.substr(0, 600);
        while (!words.empty() && words.back() == '\n') words.pop_back();
        for (char& c : words)
            if (c == '\n') c = ';';
        throw Failure(fmt::format("ffmpeg did not write '{}'{}{}", file, words.empty() ? "" : ": ", words));
    }
    std::error_code error;
    fs::rename(part.path, file, error);
    if (error) throw Failure("cannot write '" + file + "': " + error.message());
}

// What on show does not move by a kernel's clock, in words; empty: it does.
std::string other_clock(const Shell& shell, const Snapshot& snapshot) {
    if (shows_cluster(shell.session)) return "the Cluster workspace moves by the time of its ranks";
    const std::vector<Grain> grains = grains_of(shell.session, snapshot);
    if (std::find(grains.begin(), grains.end(), Grain::cycle) == grains.end())
        return fmt::format("the {} workspace moves by {}", row_of(shell.session.workspace).title,
                           grains.empty() ? "no clock here" : fmt::format("the {}", name_of(grains.front())));
    if (!snapshot.kernel.run) return "no kernel has run here";
    return {};
}

}  // namespace

void check_recording(const std::string& file, const RecordOptions& options) {
    const std::string ending = ending_of(file);
    if (ending != ".gif" && ending != ".mp4")
        throw Failure("--record takes the name of a moving picture, F.gif or F.mp4, not '" + file + "'");
    std::error_code error;
    const fs::path path = file, folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    if (fs::is_directory(path, error)) throw Failure("--record takes a file's name, and '" + file + "' is a folder");
    if (!fs::is_directory(folder, error)) throw Failure("there is no folder '" + folder.string() + "' to record into");
    if (const std::string why = system::why_unwritable(folder); !why.empty())
        throw Failure("cannot write '" + file + "': " + why);
    const double most = ending == ".gif" ? 50 : 120;  // a GIF counts hundredths of a second, and few readers heed one
    if (!(options.frames_a_second >= 1 && options.frames_a_second <= most))
        throw Failure(fmt::format("--fps is 1 to {} frames a second in a{} file, not {:.6g}", most,
                                  ending == ".gif" ? " .gif" : "n .mp4", options.frames_a_second));
    if (ending == ".mp4" && ffmpeg().empty())
        throw Failure("F.mp4 is written by ffmpeg, which is not there (package ffmpeg); F.gif needs nothing",
                      ExitStatus::missing);
}

bool record(Shell& shell, const RecordOptions& options, const Moments& moments, const std::string& file,
            const GoesOn& goes_on) {
    check_recording(file, options);
    if (moments.frames < 1) throw Failure("there is no frame to record");
    try {
        Camera camera(shell, options, moments, goes_on);
        if (ending_of(file) == ".gif")
            write_gif(camera, options, moments.frames, file, goes_on);
        else
            write_mp4(camera, options, moments.frames, file);
        if (goes_on) goes_on(1);
        return true;
    } catch (const Ended&) {
        return false;
    }
}

Moments moments_of_tour(Shell& shell, double frames_a_second) {
    begin_tour(shell.session);
    const double seconds = tour_seconds(), rest = 1;  // on the last picture
    return {static_cast<int>((seconds + rest) * frames_a_second), [=](int, Session& session, Focus& focus) {
                const auto snapshot = session.snapshot();
                session.grain = Grain::cycle;
                session.playing = false;
                if (session.machine.tour + 1 / frames_a_second < seconds)
                    play_tour(session, focus, *snapshot, 1 / frames_a_second);
                session.machine.filmed = session.machine.speed;
            }};
}

namespace {

// How many frames a stretch takes; throws Failure where they are too many.
int frames_of(double length, double speed, double frames_a_second, std::string_view unit) {
    const double frames = std::floor(length / speed * frames_a_second + 1e-6) + 1;
    if (frames <= most_frames) return static_cast<int>(frames);
    throw Failure(
        fmt::format("{} {} at {:.6g} a second are {} frames, and {} is the most: --speed {:.6g} or more, or a "
                    "shorter stretch",
                    readable_number(fmt::format("{:.6g}", length)), unit, speed,
                    with_commas(std::llround(std::min(frames, 1e18))), with_commas(most_frames),
                    unit == "cycles" ? std::ceil(length * frames_a_second / (most_frames - 1))
                                     : length * frames_a_second / (most_frames - 1) * 1.0001));
}

}  // namespace

Moments moments_of_step(Shell& shell, const Stretch& stretch, double frames_a_second) {
    const auto snapshot = shell.session.snapshot();
    const auto step = shell.session.cluster_step(*snapshot);
    if (!step) throw Failure("--record: no step of many GPUs has run here");
    if (!step->refusal.empty()) throw Failure("--record: there is no step to record: " + step->refusal);
    const double from = std::max(0.0, stretch.from), to = stretch.to < 0 ? step->end : stretch.to;
    if (to > step->end * (1 + 1e-9) || from >= to)
        throw Failure(fmt::format("--from {:.6g} --to {:.6g} is no stretch of this step, which takes {:.6g} {}", from, to,
                                  step->end, step->unit));
    const double speed = stretch.speed > 0 ? stretch.speed : (to - from) / 10;
    return {frames_of(to - from, speed, frames_a_second, step->unit), [=](int k, Session& session, Focus&) {
                session.playing = false;
                session.cluster.time = std::min(from + k * speed / frames_a_second, to);
                session.machine.filmed = speed;
            }};
}

Moments moments_of_kernel(Shell& shell, const Stretch& stretch, double frames_a_second) {
    const auto snapshot = shell.session.snapshot();
    if (const std::string other = other_clock(shell, *snapshot); !other.empty())
        throw Failure("--record films what moves by a kernel's clock so far, and " + other +
                      "; --view sm, warps or warp do, with --open, --lesson or alone");
    const auto whole = [](double cycle, std::string_view option) {
        if (cycle >= 0 && cycle != std::floor(cycle))
            throw Failure(fmt::format("{} {:.6g}: a kernel's clock counts whole cycles", option, cycle));
        return static_cast<int64_t>(cycle);
    };
    const int64_t cycles = cycles_shown(shell.session, shell.focus, *snapshot), last = std::max<int64_t>(0, cycles - 1);
    const int64_t from = std::max<int64_t>(0, whole(stretch.from, "--from")),
                  to = stretch.to < 0 ? last : whole(stretch.to, "--to");
    if (to > last || from >= to)
        throw Failure(fmt::format("--from {} --to {} is no stretch of this run, whose cycles are 0 to {}", from, to, last));
    const auto length = static_cast<double>(to - from);
    const double speed = stretch.speed > 0 ? stretch.speed : length / 10;
    const int frames = frames_of(length, speed, frames_a_second, "cycles");
    return {frames, [=](int k, Session& session, Focus& focus) {
                session.grain = Grain::cycle;
                session.playing = false;
                const double passed = k * speed / frames_a_second + 1e-6;
                focus.time = std::min(from + static_cast<int64_t>(passed), to);
                session.machine.clock = std::min(static_cast<double>(from) + passed, static_cast<double>(to));
                session.machine.filmed = speed;
                if (k > 0) return;  // the time pictures hold the stretch, or follow the clock along it
                session.sm.cycles_begin = from;
                session.sm.cycles_end = std::min(to + 1, from + 4 * first_look);
            }};
}

}  // namespace lockstep::gui
