#include "app/gui/views/tensor/norm_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/scene/tape/tape_program.h"

namespace lockstep::gui {

namespace {

const std::vector<double>* values_named(const scene::TapeRun& run, const std::string& name) {
    if (run.history.empty()) return nullptr;
    const auto found = run.history.front().find(name);
    return found == run.history.front().end() || found->second.value.empty() ? nullptr : &found->second.value;
}

bool whole_group(const NormGroups& norm, double tolerance) {  // every example is one deviation away
    return std::all_of(norm.y.begin(), norm.y.end(),
                       [&](double y) { return std::abs(std::abs((y - norm.bias) / norm.weight) - 1) < tolerance; });
}

}  // namespace

std::optional<NormGroups> norm_groups(const scene::TapeRun& run) {
    if (!run.step) return std::nullopt;
    for (auto node = run.step->nodes.rbegin(); node != run.step->nodes.rend(); ++node) {
        if (node->op != "batch_norm" || node->shape.size() != 2 || node->inputs.size() < 3 || !node->attributes) continue;
        const auto input = [&](size_t i) {
            const std::string& name = run.step->nodes[static_cast<size_t>(node->inputs[i])].name;
            return std::pair(name, values_named(run, name));
        };
        const auto [of, x] = input(0);
        const auto *weight = input(1).second, *bias = input(2).second, *y = values_named(run, node->name);
        if (x == nullptr || y == nullptr || weight == nullptr || bias == nullptr) continue;
        NormGroups norm;
        norm.of = of;
        norm.channels = static_cast<int>(node->shape[1]);
        norm.groups = static_cast<int>(std::max<int64_t>(1, node->attributes->groups));
        norm.epsilon = node->attributes->alpha;
        norm.weight = weight->front();
        norm.bias = bias->front();
        for (size_t i = 0; i < x->size() && i < y->size(); i += static_cast<size_t>(norm.channels))
            norm.x.push_back((*x)[i]), norm.y.push_back((*y)[i]);
        if (norm.examples() < 2 || norm.examples() > 32 || norm.weight == 0) continue;
        return norm;
    }
    return std::nullopt;
}

std::vector<NormStatistics> norm_statistics(std::span<const double> x, int groups) {
    std::vector<NormStatistics> all;
    const size_t each = x.size() / static_cast<size_t>(std::max(1, groups));
    for (size_t first = 0; each > 0 && first + each <= x.size(); first += each) {
        NormStatistics of;
        for (size_t i = first; i < first + each; ++i) of.mean += x[i] / static_cast<double>(each);
        for (size_t i = first; i < first + each; ++i)
            of.square += (x[i] - of.mean) * (x[i] - of.mean) / static_cast<double>(each);
        all.push_back(of);
    }
    return all;
}

std::vector<double> normalised(const NormGroups& norm, int groups) {
    const std::vector<NormStatistics> statistics = norm_statistics(norm.x, groups);
    const size_t each = norm.x.size() / statistics.size();
    std::vector<double> y;
    for (size_t i = 0; i < norm.x.size(); ++i) {
        const NormStatistics& of = statistics[std::min(i / each, statistics.size() - 1)];
        y.push_back(norm.bias + norm.weight * (norm.x[i] - of.mean) / std::sqrt(of.square + norm.epsilon));
    }
    return y;
}

std::vector<int> possible_groups(int examples) {
    std::vector<int> groups;
    for (int count = 1; 2 * count <= examples; ++count)
        if (examples % count == 0) groups.push_back(count);
    return groups;
}

int furthest_moved(const NormGroups& norm, int other) {
    const std::vector<double> there = normalised(norm, other);
    size_t most = 0;
    for (size_t i = 1; i < there.size(); ++i)
        if (std::abs(there[i] - norm.y[i]) >= std::abs(there[most] - norm.y[most])) most = i;
    return static_cast<int>(most);
}

std::string plain_number(double value) {
    if (std::abs(value) < 0.005) return "0";
    std::string text = value == std::floor(value) ? fmt::format("{:g}", value) : fmt::format("{:.2f}", value);
    if (text.starts_with("-")) text = "−" + text.substr(1);
    return text;
}

std::string groups_words(int groups, int examples) {
    if (groups <= 1) return "all together";
    const int each = examples / groups;
    return each == 2 ? "each pair alone" : fmt::format("each {} alone", each);
}

std::string norm_headline(const NormGroups& norm, int other) {
    if (norm.groups > 1 && norm.examples() == 2 * norm.groups && whole_group(norm, 0.01))
        return "Alone, every pair becomes −1 and +1";
    if (norm.groups == 1) return "Synchronised, order and distances stay";
    const int most = furthest_moved(norm, other);
    return fmt::format("{} becomes {} here, and {} with {}", plain_number(norm.x[static_cast<size_t>(most)]),
                       plain_number(norm.y[static_cast<size_t>(most)]),
                       plain_number(normalised(norm, other)[static_cast<size_t>(most)]),
                       groups_words(other, norm.examples()));
}

std::string norm_difference(const NormGroups& norm, int other) {
    const auto most = static_cast<size_t>(furthest_moved(norm, other));
    return fmt::format("The {} lies at {} with {}, at {} with {}.", plain_number(norm.x[most]), plain_number(norm.y[most]),
                       groups_words(norm.groups, norm.examples()), plain_number(normalised(norm, other)[most]),
                       groups_words(other, norm.examples()));
}

std::string norm_caption(const NormGroups& norm) {
    const NormStatistics all = norm_statistics(norm.x, 1).front();
    std::string text = fmt::format("All {}: mean {}, mean square deviation {}.", norm.examples(), plain_number(all.mean),
                                   plain_number(all.square));
    if (norm.groups == 1) return text;
    const std::vector<NormStatistics> parts = norm_statistics(norm.x, norm.groups);
    const auto [least, largest] =
        std::minmax_element(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.mean < b.mean; });
    return text + fmt::format(" The {} ranks' means run from {} to {}: each takes off another one.", norm.groups,
                              plain_number(least->mean), plain_number(largest->mean));
}

std::string norm_words(const NormGroups& norm, int other, int example) {
    const auto i = static_cast<size_t>(example);
    const auto place = [&](int groups, double y) {
        const std::vector<NormStatistics> parts = norm_statistics(norm.x, groups);
        const NormStatistics& of = parts[std::min(i / (norm.x.size() / parts.size()), parts.size() - 1)];
        return fmt::format("{}: mean {}, deviation {}, so {}", groups_words(groups, norm.examples()), plain_number(of.mean),
                           plain_number(std::sqrt(of.square)), plain_number(y));
    };
    return fmt::format("Example {}, {}. With {}. With {}.", example, plain_number(norm.x[i]), place(norm.groups, norm.y[i]),
                       place(other, normalised(norm, other)[i]));
}

}  // namespace lockstep::gui
