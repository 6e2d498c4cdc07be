// Digests are compared by what they are of; the ranks that most others agree with are taken to be right.
#include "core/parallel/train/agreement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>
#include <sstream>
#include <tuple>

#include "core/base/diagnostic.h"
#include "core/base/nearest.h"
#include "core/base/units.h"
#include "core/nn/train/training_options.h"
#include "core/parallel/plan_options.h"
#include "core/parallel/train/trainer.h"
#include "core/tensor/tensor.h"

namespace lockstep::parallel {

namespace {
constexpr std::string_view same_for_all[] = {"model", "data", "batch", "dp", "tp", "pp", "cp"};  // of the whole run

template <class Value>
bool read_told(const std::string& text, Value& value) {
    if constexpr (std::is_same_v<Value, bool>) {
        value = text == "1";
        return text == "0" || text == "1";
    } else if constexpr (std::is_arithmetic_v<Value>) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        return error == std::errc() && end == text.data() + text.size();
    } else if constexpr (std::is_same_v<Value, std::string>) {
        value = text;
        return true;
    } else {
        return false;
    }
}

[[noreturn]] void refuse_told(const ToldRank& told, const std::string& why) {
    throw Failure(fmt::format("--on-rank {}:{}={}: {}", told.rank, told.name, told.value, why));
}

// Whether there is such an option. The value goes into `options`.
bool take_told(ParallelOptions& options, const ToldRank& told) {
    const auto is_bad = [&] { refuse_told(told, fmt::format("--{} cannot be '{}'", told.name, told.value)); };
    if (told.name == "bucket-mb") {
        double megabytes = 0;
        if (!read_told(told.value, megabytes) || megabytes < 0) is_bad();
        options.plan.bucket_bytes = static_cast<int64_t>(megabytes * (1 << 20));
        return true;
    }
    for (const PlanOption& row : plan_options()) {
        if (row.name != told.name) continue;
        if (!row.names.empty())
            set_named(options.plan, row, "--on-rank " + told.name, told.value);
        else if (!std::visit([&](auto field) { return read_told(told.value, options.plan.*field); }, row.field))
            is_bad();
        return true;
    }
    const std::map<std::string, std::string> known = nn::texts_of(options.training);
    if (told.name != "seed" && !known.count(told.name)) return false;
    if (told.name == "seed") {
        if (!read_told(told.value, options.training.seed)) is_bad();
        return true;
    }
    nn::Checkpoint as_kept{.model = options.training.model, .seed = options.training.seed};
    as_kept.options[told.name] = told.value;
    try {
        nn::take_options(options.training, as_kept);
    } catch (const Failure&) {
        is_bad();
    }
    return true;
}

// "0.1", as it is in the options; "" where it has no text.
std::string text_in(const ParallelOptions& options, const std::string& name) {
    if (name == "bucket-mb") return fmt::format("{}", double(options.plan.bucket_bytes) / (1 << 20));
    if (name == "seed") return fmt::format("{}", options.training.seed);
    for (const PlanOption& row : plan_options())
        if (row.name == name)
            return std::visit(
                [&](auto field) -> std::string {
                    using Value = std::remove_reference_t<decltype(options.plan.*field)>;
                    if constexpr (std::is_arithmetic_v<std::remove_const_t<Value>>)
                        return fmt::format("{}", options.plan.*field);
                    else
                        return "";
                },
                row.field);
    const auto texts = nn::texts_of(options.training);
    const auto found = texts.find(name);
    return found == texts.end() ? "" : found->second;
}

std::string ranks_text(const std::vector<int>& ranks) {  // "rank 1", "ranks 0, 2 and 3"
    if (ranks.size() == 1) return fmt::format("rank {}", ranks[0]);
    std::string text = "ranks ";
    for (size_t i = 0; i < ranks.size(); ++i)
        text += fmt::format("{}{}", i == 0 ? "" : i + 1 == ranks.size() ? " and " : ", ", ranks[i]);
    return text;
}

// "rank 1 was told lr 0.2 and the others 0.1"; "": nothing.
std::string what_was_told(const ParallelOptions& options) {
    std::string text;
    for (const ToldRank& told : options.told) {
        if (!text.empty()) text += "; ";
        if (told.name == "flip") {
            text += fmt::format("a bit of rank {}'s memory was turned over ({})", told.rank, told.value);
            continue;
        }
        const std::string others = text_in(options, told.name);
        text += fmt::format("rank {} was told {} {}{}", told.rank, told.name, told.value,
                            others.empty() ? ", unlike the others" : fmt::format(" and the others {}", others));
    }
    return text;
}

double value_at(const Array& array, size_t i) {
    double value = 0;
    tensor::convert_values(array.bytes.data() + i * size_of(array.dtype), array.dtype, reinterpret_cast<std::byte*>(&value),
                           DType::f64, 1, "");
    return value;
}

// " (12 of 100,352 elements; [0, 5] is 0.123 and not 0.456)"
std::string first_difference(const Array& wrong, const Array& right) {
    const size_t size = size_of(wrong.dtype), n = wrong.count();
    if (right.bytes.size() != wrong.bytes.size() || n == 0) return "";
    size_t count = 0, first = n;
    for (size_t i = 0; i < n; ++i)
        if (std::memcmp(&wrong.bytes[i * size], &right.bytes[i * size], size) != 0) {
            ++count;
            first = std::min(first, i);
        }
    if (count == 0) return "";
    std::vector<int64_t> index(wrong.shape.size());
    int64_t rest = static_cast<int64_t>(first);
    for (size_t d = index.size(); d-- > 0;) {
        index[d] = rest % std::max<int64_t>(1, wrong.shape[d]);
        rest /= std::max<int64_t>(1, wrong.shape[d]);
    }
    return fmt::format(" ({} of {} elements; [{}] is {:.6g} and not {:.6g})", with_commas(int64_t(count)),
                       with_commas(int64_t(n)), fmt::join(index, ", "), value_at(wrong, first), value_at(right, first));
}

// Of one group of ranks with the same elements: those that most agree with, then the others.
struct Sides {
    std::vector<int> right, wrong;
};
std::optional<Sides> sides_of(const std::vector<std::pair<int, const ReplicaDigest*>>& holders, double tolerance) {
    std::vector<std::pair<const ReplicaDigest*, std::vector<int>>> alike;
    for (const auto& [rank, its] : holders) {
        const ReplicaDigest* digest = its;
        const auto same = std::find_if(alike.begin(), alike.end(), [&](const auto& side) {
            return side.first->checksum == digest->checksum ||
                   (tolerance > 0 &&
                    std::abs(side.first->largest - digest->largest) <= tolerance * std::abs(digest->largest));
        });
        if (same == alike.end())
            alike.push_back({digest, {rank}});
        else
            same->second.push_back(rank);
    }
    if (alike.size() < 2) return std::nullopt;
    const auto most = std::max_element(alike.begin(), alike.end(),
                                       [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    Sides sides{most->second, {}};
    for (auto side = alike.begin(); side != alike.end(); ++side)
        if (side != most) sides.wrong.insert(sides.wrong.end(), side->second.begin(), side->second.end());
    std::sort(sides.wrong.begin(), sides.wrong.end());
    return sides;
}

std::string call_text(const CollectiveCall& call) {
    return fmt::format("{} of {} {} for {}{}", call.operation, with_commas(call.elements), name_of(call.type), call.purpose,
                       call.about.empty() ? "" : " of " + call.about);
}
}  // namespace

ToldRank told_rank(const std::string& text) {
    const size_t colon = text.find(':'), equals = text.find('=');
    ToldRank told;
    if (colon == std::string::npos || equals == std::string::npos || equals < colon + 2 ||
        !read_told(text.substr(0, colon), told.rank) || told.rank < 0)
        throw Failure(
            fmt::format("--on-rank {}: write RANK:OPTION=VALUE, 1:lr=0.2 for instance, or 1:flip=PARAMETER@STEP", text));
    told.name = text.substr(colon + 1, equals - colon - 1);
    told.value = text.substr(equals + 1);
    return told;
}

ParallelOptions options_of_rank(const ParallelOptions& options, int rank) {
    ParallelOptions own = options;
    for (const ToldRank& told : options.told) {
        if (told.rank >= options.plan.ranks())
            refuse_told(told, fmt::format("there are ranks 0 to {}", options.plan.ranks() - 1));
        if (told.rank != rank || told.name == "flip") continue;
        if (std::find(std::begin(same_for_all), std::end(same_for_all), told.name) != std::end(same_for_all))
            refuse_told(told, fmt::format("{} is of the whole run: another rank cannot have its own", told.name));
        if (take_told(own, told)) continue;
        std::vector<std::string> names = {"seed", "flip", "slow", "bucket-mb"};
        for (const auto& [name, text] : nn::texts_of(options.training)) names.push_back(name);
        for (const PlanOption& row : plan_options())
            if (!row.name.empty()) names.emplace_back(row.name);
        const std::string near = nearest_name(told.name, names);
        refuse_told(told, fmt::format("train has no option --{}{}", told.name,
                                      near.empty() ? "" : fmt::format(", did you mean --{}?", near)));
    }
    return own;
}

uint64_t checksum_of(std::span<const std::byte> bytes) {
    // Four lanes, so that no multiplication waits for the one before it.
    uint64_t lanes[4] = {0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u, 0x94d049bb133111ebu, 0xd6e8feb86659fd93u};
    size_t at = 0;
    for (; at + 32 <= bytes.size(); at += 32)
        for (size_t lane = 0; lane < 4; ++lane) {
            uint64_t word;
            std::memcpy(&word, &bytes[at + 8 * lane], 8);
            lanes[lane] = (lanes[lane] ^ word) * 0x9fb21c651e98df25u;
            lanes[lane] ^= lanes[lane] >> 32;
        }
    uint64_t sum = bytes.size();
    for (; at < bytes.size(); ++at) sum = (sum ^ static_cast<uint64_t>(bytes[at])) * 0x100000001b3u;
    for (const uint64_t lane : lanes) sum = (sum ^ lane) * 0x9fb21c651e98df25u, sum ^= sum >> 29;
    return sum;
}

std::string text_of(const RankDigests& digests) {
    std::string text;
    for (const ReplicaDigest& d : digests)
        text += fmt::format("{} {} {} {} {} {} {} {:.17g}\n", d.name, d.axis, d.parts, d.part, d.piece.begin, d.piece.count,
                            d.checksum, d.largest);
    return text;
}

RankDigests digests_of_text(const std::string& text) {
    RankDigests digests;
    std::istringstream in(text);
    for (ReplicaDigest d;
         in >> d.name >> d.axis >> d.parts >> d.part >> d.piece.begin >> d.piece.count >> d.checksum >> d.largest;)
        digests.push_back(d);
    return digests;
}

std::optional<nn::Cause> disagreement(std::span<const RankDigests> ranks, const ParallelOptions& options, int64_t step,
                                      int64_t agreed,
                                      const std::function<Array(int rank, const std::string& parameter)>& values) {
    // MPI's own collectives may add in another order on each rank.
    const double tolerance = options.library_collectives ? 1e-4 : 0;
    using Key = std::tuple<std::string, int, int64_t, int64_t, int64_t, int64_t>;
    std::map<Key, std::vector<std::pair<int, const ReplicaDigest*>>> holders;
    std::vector<Key> order;
    for (size_t rank = 0; rank < ranks.size(); ++rank)
        for (const ReplicaDigest& d : ranks[rank]) {
            if (d.piece.count == 0) continue;
            const Key key{d.name, d.axis, d.parts, d.part, d.piece.begin, d.piece.count};
            auto& list = holders[key];
            if (list.empty()) order.push_back(key);
            list.emplace_back(static_cast<int>(rank), &d);
        }
    const ReplicaDigest* first = nullptr;
    Sides sides;
    int64_t more = 0;
    for (const Key& key : order) {
        const std::optional<Sides> apart = sides_of(holders[key], tolerance);
        if (!apart) continue;
        if (first) {
            ++more;
            continue;
        }
        first = holders[key].front().second;
        sides = *apart;
    }
    if (!first) return std::nullopt;
    nn::Cause cause{.name = "ranks_disagree", .step = step, .layer = first->name.substr(0, first->name.find_last_of('.'))};
    const std::string before = agreed < 0 ? "they began alike" : fmt::format("they agreed after step {}", agreed);
    const std::string when =
        agreed + 1 >= step ? fmt::format("after step {}", step) : fmt::format("after step {} ({})", step, before);
    const std::string difference =
        values ? first_difference(values(sides.wrong.front(), first->name), values(sides.right.front(), first->name)) : "";
    cause.text = fmt::format("ranks disagree {}: {} of {} is not that of {}{}", when, first->name, ranks_text(sides.wrong),
                             ranks_text(sides.right), difference);
    if (more > 0)
        cause.text += fmt::format(", nor {} {} more parameter{}", more == 1 ? "is" : "are", more, more == 1 ? "" : "s");
    const std::string told = what_was_told(options);
    if (!told.empty()) cause.text += "; " + told;
    const bool flips =
        std::all_of(options.told.begin(), options.told.end(), [](const ToldRank& t) { return t.name == "flip"; });
    cause.advice =
        !told.empty() && flips ? "Go on from a checkpoint of a step after which the ranks agreed (--resume): from here on "
                                 "they learn unlike things."
        : told.empty()
            ? "All ranks were told the same, so look for what changes values without the others: memory, a kernel "
              "whose result depends on the order of its threads, a rank that began from another checkpoint."
            : "Give all ranks the same options: what they add up together keeps them alike only where each does "
              "the same with it.";
    return cause;
}

std::string collectives_disagree(std::span<const CollectiveCalls> ranks) {
    std::map<std::vector<int>, std::map<int, std::vector<const CollectiveCall*>>> groups;
    int64_t step = -1;
    for (const CollectiveCalls& calls : ranks) step = std::max(step, calls.step);
    for (size_t rank = 0; rank < ranks.size(); ++rank)  // one that ended earlier has not come to anything
        if (ranks[rank].step == step)
            for (const CollectiveCall& call : ranks[rank].list) groups[call.ranks][static_cast<int>(rank)].push_back(&call);
    std::string found;
    size_t earliest = SIZE_MAX;
    bool both = false;  // ranks came to it and called unlike things; a rank that did not come may only wait elsewhere
    for (auto& [members, calls] : groups) {
        size_t most = 0;
        for (const int rank : members) most = std::max(most, calls[rank].size());
        for (size_t i = 0; i < most; ++i) {
            const CollectiveCall* other = nullptr;
            int of = -1;
            for (const int rank : members) {
                const CollectiveCall* const call = i < calls[rank].size() ? calls[rank][i] : nullptr;
                if (of < 0) {
                    other = call, of = rank;
                    continue;
                }
                const bool same = (!call && !other) || (call && other && call->operation == other->operation &&
                                                        call->elements == other->elements && call->type == other->type &&
                                                        call->purpose == other->purpose);
                const bool stronger = call && other && !both;
                if (same || (both && !(call && other)) || (!stronger && i >= earliest)) continue;
                const std::string where =
                    fmt::format("collective {} over {} ({})", i + 1, (call ? call : other)->axis, ranks_text(members));
                found = !call || !other ? fmt::format("{}, {}, {} does not come to", where,
                                                      call_text(*(call ? call : other)), ranks_text({call ? of : rank}))
                                        : fmt::format("{} is {} on {} and {} on {}", where, call_text(*other),
                                                      ranks_text({of}), call_text(*call), ranks_text({rank}));
                earliest = i;
                both = call && other;
                break;
            }
        }
    }
    return found;
}

}  // namespace lockstep::parallel
