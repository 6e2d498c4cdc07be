// Sizes that nobody has given: the kernel runs once more, functionally and in buffers that grow as it needs. What is far
// from the guess, as rows times columns are, takes its place; what is near it is offered only, because a buffer that is as
// large as the kernel reaches would hide that it reaches too far.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "app/gui/work/worker.h"
#include "core/scene/arguments/learned_extents.h"

namespace lockstep::gui {

namespace {

constexpr double most_learn_seconds = 1;  // on the processor

struct Learner {
    const KernelEntry& entry;
    const CompiledKernel& compiled;
    const KernelResult& result;
    std::stop_token stop;

    scene::LearnedExtents extents(const std::vector<scene::KernelArgument>& arguments) const {
        const simt::LaunchConfig& config = result.run->config;
        const simt::LaunchOptions options = model::functional_options(result.run->gpu, *entry.program, config);
        scene::LearnLimits limits;
        limits.seconds = most_learn_seconds / 2;
        return scene::learn_extents(*entry.program, config, arguments, options, compiled.source, limits, stop);
    }
    std::string name(size_t i) const {
        return i < entry.parameters.size() ? entry.parameters[i] : fmt::format("argument {}", i + 1);
    }
};

std::vector<scene::KernelArgument> parsed(const std::vector<std::string>& texts) {
    std::vector<scene::KernelArgument> arguments;
    for (const std::string& text : texts) {
        auto argument = scene::parse_argument(text);
        if (!argument.ok()) return {};
        arguments.push_back(std::move(argument.value()));
    }
    return arguments;
}

// Whole numbers among the arguments, which may be sizes.
std::vector<uint64_t> whole_numbers(const std::vector<std::string>& texts) {
    std::vector<uint64_t> numbers;
    for (const std::string& text : texts) {
        const size_t colon = text.find(':');
        const std::string_view type = std::string_view(text).substr(0, std::min(colon, text.size()));
        if (type != "i32" && type != "u32" && type != "i64" && type != "u64") continue;
        if (const uint64_t n = std::strtoull(text.c_str() + colon + 1, nullptr, 10); n > 1) numbers.push_back(n);
    }
    return numbers;
}

// As many elements as two sizes have together, where a little less is touched: of the last row the first column alone.
uint64_t whole_rows(uint64_t touched, const std::vector<uint64_t>& sizes) {
    for (size_t i = 0; i < sizes.size(); ++i)
        for (size_t k = i + 1; k < sizes.size(); ++k)
            if (const uint64_t all = sizes[i] * sizes[k]; all >= touched && all - touched < std::max(sizes[i], sizes[k]))
                return all;
    return touched;
}

// The texts with the sizes that were learned, of those buffers that nobody chose. `counts`: sizes that stand in the texts in
// place of guesses; a buffer that was as large as the guess has as many elements as the size says, whatever is touched.
void take_extents(LaunchOffer& offer, const std::vector<std::string>& texts, const std::vector<ArgumentText>& were,
                  const scene::LearnedExtents& learned, const Learner& learner,
                  const std::map<uint64_t, uint64_t>& counts = {}) {
    const std::vector<uint64_t> sizes = whole_numbers(texts);
    for (size_t i = 0; i < texts.size() && i < learned.arguments.size(); ++i) {
        std::string text = texts[i];
        const scene::LearnedExtent& extent = learned.arguments[i];
        const auto count = counts.find(extent.asked);
        uint64_t elements = whole_rows(extent.elements, sizes);
        if (count != counts.end() && extent.elements <= extent.asked && 2 * extent.elements > extent.asked)
            elements = count->second;
        if (extent.learned && extent.elements > 0 && elements != extent.asked && !were[i].chosen)
            text = scene::with_elements(text, elements);
        if (text == were[i].text) continue;
        offer.arguments.emplace_back(i, text);
        offer.detail += (offer.detail.empty() ? "" : ", ") + learner.name(i) + " = " + text;
    }
}

// A number below `threads` that is a multiple neither of the block nor of a warp; 0: there is none.
int64_t odd_size(int64_t threads, int64_t block) {
    const int64_t round = threads >= 300 ? 100 : threads >= 30 ? 10 : 1;
    for (int64_t n = (threads - 1) / round * round; n > 1; n -= round)
        if (n % block != 0 && n % 32 != 0) return n;
    return 0;
}

// Whether a guess is a whole number that stands for as many as there are threads along an axis.
bool is_size(const ArgumentText& argument, int64_t threads) {
    const size_t colon = argument.text.find(':');
    if (argument.chosen || colon == std::string::npos) return false;
    const std::string type = argument.text.substr(0, colon);
    const bool whole = type == "i32" || type == "u32" || type == "i64" || type == "u64";
    return whole && argument.text.substr(colon + 1) == std::to_string(threads);
}

// The guesses with sizes that leave the last block partly empty; empty: none of them stands for a size. `counts`: which
// size now stands for which.
std::vector<std::string> odd_texts(const KernelResult& result, std::map<uint64_t, uint64_t>& counts) {
    const simt::Dim3 grid = result.run->config.grid, block = result.run->config.block;
    std::vector<std::string> odd;
    bool any = false;
    for (const ArgumentText& argument : result.settings.arguments) {
        odd.push_back(argument.text);
        for (const auto& [threads, width] :
             {std::pair<int64_t, int64_t>{int64_t{grid.x} * block.x, block.x}, {int64_t{grid.y} * block.y, block.y}}) {
            const int64_t n = threads > 1 && is_size(argument, threads) ? odd_size(threads, width) : 0;
            if (n == 0) continue;
            odd.back() = argument.text.substr(0, argument.text.find(':') + 1) + std::to_string(n);
            counts[static_cast<uint64_t>(threads)] = static_cast<uint64_t>(n);
            any = true;
            break;
        }
    }
    return any ? odd : std::vector<std::string>();
}

// The size that explains what a first run touched where the guess does not: two sizes multiplied, as rows and columns are,
// or of an output one element a block. 0: nothing explains it, so that a wild index keeps the guess and is told.
uint64_t explained_size(const scene::LearnedExtent& extent, const std::vector<uint64_t>& sizes, uint64_t blocks) {
    if (!extent.learned || extent.elements == 0) return 0;
    if (extent.elements < extent.asked)
        return extent.written && !extent.read && extent.elements == blocks && 2 * blocks <= extent.asked ? blocks : 0;
    if (extent.elements == extent.asked) return 0;
    for (size_t i = 0; i < sizes.size(); ++i)
        for (size_t k = i; k < sizes.size(); ++k)
            if (const uint64_t all = sizes[i] * sizes[k];
                all >= extent.elements && all - extent.elements < std::max(sizes[i], sizes[k]))
                return all;
    return 0;
}

// Whether what the run blames may be no more than a guessed size: an address behind a buffer, or outputs nobody wrote.
bool blames_sizes(const KernelResult& result) {
    const std::vector<simt::Fault> all = result.reports();
    return std::any_of(all.begin(), all.end(), [](const simt::Fault& fault) {
        return fault.kind == "memcheck" || fault.message.find("never written") != std::string::npos;
    });
}

}  // namespace

// Of a launch whose sizes are guesses, and which is blamed for them: those that a first run tells. False: nothing is told.
bool Session::Worker::learn_sizes(const KernelResult& result, const KernelEntry& entry, const CompiledKernel& compiled,
                                  LaunchSettings& settings) {
    if (!result.run || !blames_sizes(result)) return false;
    busy("learning what " + result.kernel + " touches");
    const Learner learner{entry, compiled, result, job_token()};
    std::vector<std::string> texts;
    for (const ArgumentText& argument : settings.arguments)
        texts.push_back(argument.guess.empty() ? argument.text : argument.guess);
    const scene::LearnedExtents found = learner.extents(parsed(texts));
    if (!found.stopped.empty() || learner.stop.stop_requested()) return false;
    const std::vector<uint64_t> sizes = whole_numbers(texts);
    bool any = false;
    for (size_t i = 0; i < texts.size() && i < found.arguments.size(); ++i) {
        ArgumentText& argument = settings.arguments[i];
        const uint64_t elements = explained_size(found.arguments[i], sizes, result.run->config.grid.count());
        if (argument.chosen || elements == 0) continue;
        const std::string told = scene::with_elements(texts[i], elements);
        if (told == argument.text) continue;
        argument.text = told;
        argument.guess = texts[i];
        any = true;
    }
    return any;
}

void Session::Worker::learn_own(const KernelJob& wanted) {
    const std::shared_ptr<const KernelResult> result = draft.own.result;
    const auto forget = [&] { draft.own.learned.reset(); };
    if (!result || !result->run || !result->compiled) return forget();
    const LaunchSettings& settings = result->settings;
    const bool guessed = std::any_of(settings.arguments.begin(), settings.arguments.end(),
                                     [](const ArgumentText& argument) { return !argument.chosen; });
    if (!guessed) return forget();
    const auto& known = draft.own.learned;
    if (known && known->version == result->version && same_sizes(known->settings, settings)) return;
    const auto& entries = result->compiled->entries;
    const auto entry = std::find_if(entries.begin(), entries.end(),
                                    [&](const KernelEntry& one) { return one.program == result->run->program; });
    if (entry == entries.end()) return forget();
    auto learned = std::make_shared<LearnedLaunch>();
    learned->version = result->version;
    learned->settings = settings;
    busy("learning what " + wanted.name + " touches");
    const Learner learner{*entry, *result->compiled, *result, job_token()};
    std::vector<std::string> texts;
    for (const ArgumentText& argument : settings.arguments) texts.push_back(argument.text);
    const scene::LearnedExtents first = learner.extents(parsed(texts));
    if (learner.stop.stop_requested()) return;
    const bool ended = first.stopped.empty();
    LaunchOffer exact;
    exact.title = "as much as it touches";
    if (ended) take_extents(exact, texts, settings.arguments, first, learner);
    const bool told = std::any_of(settings.arguments.begin(), settings.arguments.end(),
                                  [](const ArgumentText& argument) { return !argument.guess.empty(); });
    learned->sentence = !ended                            ? "Sizes could not be learned: " + first.stopped + "."
                        : exact.arguments.empty() && told ? "The sizes are those that a first run touched."
                        : exact.arguments.empty()
                            ? "A first run touches just what these sizes hold."
                            : "Learned from a first run: functional, in buffers that grew as it needed.";
    if (!exact.arguments.empty()) learned->offers.push_back(std::move(exact));
    std::map<uint64_t, uint64_t> counts;
    if (const std::vector<std::string> odd = odd_texts(*result, counts); ended && !odd.empty()) {
        const scene::LearnedExtents second = learner.extents(parsed(odd));
        if (learner.stop.stop_requested()) return;
        LaunchOffer offer;
        offer.title = "no multiple of the block";
        if (second.stopped.empty()) take_extents(offer, odd, settings.arguments, second, learner, counts);
        if (!offer.arguments.empty()) learned->offers.push_back(std::move(offer));
    }
    draft.own.learned = learned;
    busy("");
}

}  // namespace lockstep::gui
