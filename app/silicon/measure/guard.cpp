// A GPU's context does not outlive a kernel that faults, and a driver may hang: so a child measures and says which row is
// under way, and this process, which never opens the driver, notes what became of it. Lines of the child: a word, a tab, the
// rest; "error" has the exit status before its sentence.
#include <fmt/format.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "app/silicon/measure/nccl.h"
#include "app/silicon/measure/training.h"
#include "app/silicon/silicon.h"
#include "core/base/files.h"
#include "core/system/system.h"

namespace lockstep::device {
namespace {

using GuardClock = std::chrono::steady_clock;
constexpr size_t largest_guarded_file = size_t{16} << 20;

std::string guarded_line(std::string text) {
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 32 || c == 127) c = ' ';
    return text;
}

struct GuardHeard {  // from one child
    std::string part, row, broke;
    std::optional<Failure> error;
    bool done = false, anything = false;
};

void hear_line(GuardHeard& heard, const SiliconOptions& options, std::string_view line) {
    const size_t tab = std::min(line.find('\t'), line.size());
    const std::string_view word = line.substr(0, tab);
    const std::string rest(line.substr(std::min(tab + 1, line.size())));
    const size_t second = std::min(rest.find('\t'), rest.size());
    const std::string head = rest.substr(0, second), tail = rest.substr(std::min(second + 1, rest.size()));
    if (word == "part") {
        heard.part = rest;
        heard.row.clear();
        heard.anything = true;
        if (options.part_started) options.part_started(rest);
    } else if (word == "row") {
        heard.row = rest;
        if (options.started) options.started(rest);
    } else if (word == "ended") {
        heard.row.clear();
    } else if (word == "cut") {
        if (options.part_cut_off) options.part_cut_off(rest);
    } else if (word == "failed") {
        if (options.failed) options.failed({head, tail});
    } else if (word == "error") {
        heard.error.emplace(tail, static_cast<ExitStatus>(std::atoi(head.c_str())));
    } else if (word == "broke") {
        heard.broke = rest;
    } else if (word == "done") {
        heard.done = true;
    }
}

SiliconFile file_at(const std::string& path) {
    if (!std::filesystem::exists(path)) return {};
    return parse_silicon(read_file(path, largest_guarded_file).value(), path).value();
}

// The words of the child: the file, the device, the options, the parts.
std::vector<std::string> words_of(const std::string& path, const std::string& device, const SiliconOptions& options) {
    std::vector<std::string> words = {path, device};
    words.push_back(fmt::format("{} {} {} {} {} {}", options.repeats, options.seconds, options.clock_rounds, options.flushed,
                                options.quick ? 1 : 0, options.budget));
    words.insert(words.end(), options.parts.begin(), options.parts.end());
    return words;
}
SiliconOptions options_of(const std::vector<std::string>& words) {
    SiliconOptions options;
    std::istringstream(words.at(2)) >> options.repeats >> options.seconds >> options.clock_rounds >> options.flushed >>
        options.quick >> options.budget;
    options.parts.assign(words.begin() + 3, words.end());
    return options;
}

std::string guard_words(const system::ChildOutcome& outcome, double patience) {
    if (outcome.end == system::ChildOutcome::End::timed_out)
        return fmt::format("it gave no answer for {:.0f} s and was ended", patience);
    if (outcome.end == system::ChildOutcome::End::killed)
        return "the process that measured it was ended by " + system::signal_text(outcome.status);
    return fmt::format("the process that measured it ended with status {}", outcome.status);
}

void measure_as_child(const std::vector<std::string>& words, const system::SayLine& say) {
    const std::string &path = words.at(0), &device = words.at(1);
    SiliconOptions options = options_of(words);
    options.more = further_parts();
    const auto sayer = [&say](std::string word) {
        return [&say, word = std::move(word)](std::string_view what) { say(word + "\t" + guarded_line(std::string(what))); };
    };
    options.part_started = sayer("part");
    options.part_cut_off = sayer("cut");
    options.started = sayer("row");
    options.ended = sayer("ended");
    options.failed = [&](const SiliconFailure& row) {
        say("failed\t" + guarded_line(row.name) + "\t" + guarded_line(row.why));
    };
    options.finished = [&](const SiliconFile& so_far) { write_file(path, format_silicon(so_far)); };
    const auto error = [&](ExitStatus status, const std::string& what) {
        say(fmt::format("error\t{}\t{}", static_cast<int>(status), guarded_line(what)));
    };
    try {
        SiliconFile file = file_at(path);
        measure_silicon(file, device, options);
        say("done\t");
    } catch (const Failure& failure) {
        error(failure.status, failure.diagnostic.message);
    } catch (const std::exception& problem) {
        say("broke\t" + guarded_line(problem.what()));
    }
}

}  // namespace

SiliconParts further_parts() {
    return {{"training", nn::measure_training}, {"nccl", comm::measure_nccl}};
}

const system::ChildTask measuring_task = {.name = "silicon", .speak = measure_as_child};

void measure_silicon_guarded(SiliconFile& file, const std::string& path, const std::string& device,
                             const SiliconOptions& options, double patience) {
    const auto begin = GuardClock::now();
    for (;;) {
        SiliconOptions own = options;
        if (options.budget > 0) {
            own.budget = options.budget - std::chrono::duration<double>(GuardClock::now() - begin).count();
            if (own.budget <= 0) return;
        }
        GuardHeard heard;
        const system::ChildOutcome outcome = system::hear_task(
            measuring_task.name, words_of(path, device, own),
            [&](std::string_view line) {
                hear_line(heard, options, line);
                return patience;
            },
            patience);
        if (std::filesystem::exists(path)) file = file_at(path);
        if (heard.done) return;
        if (heard.error && heard.error->status != ExitStatus::faulted) throw *heard.error;
        if (!heard.anything)
            throw Failure(fmt::format("{} could not be opened: {}", device, guard_words(outcome, patience)),
                          ExitStatus::missing);
        if (heard.error) continue;  // the row is noted: the next child has a context of its own
        const auto part =
            std::find_if(file.parts.begin(), file.parts.end(), [&](const SiliconPart& it) { return it.name == heard.part; });
        const SiliconFailure row{heard.row.empty() ? heard.part : heard.row,
                                 heard.broke.empty() ? guard_words(outcome, patience) : heard.broke};
        if (part == file.parts.end())
            throw Failure(fmt::format("{}: {}, and the file was not kept", row.name, row.why), ExitStatus::missing);
        part->failures.push_back(row);
        write_file(path, format_silicon(file));
        if (options.failed) options.failed(row);
    }
}

}  // namespace lockstep::device
