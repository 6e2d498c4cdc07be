#include "core/scene/figures/figure_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace lockstep::scene {

std::string take_suffix(std::string& name, std::string_view kind) {
    const std::string marker = "@" + std::string(kind) + ":";
    const size_t at = name.find(marker);
    if (at == std::string::npos) return {};
    const size_t end = std::min(name.find('@', at + 1), name.size());
    std::string value = name.substr(at + marker.size(), end - at - marker.size());
    name.erase(at, end - at);
    return value;
}

Result<size_t> whole_in(std::string_view text, const std::string& full) {
    size_t value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || rest != text.data() + text.size())
        return Diagnostic{fmt::format("'{}': '{}' is no whole number that could be meant here", full, text)};
    return value;
}

Result<size_t> index_in(const std::string& name) {
    const size_t open = name.find('['), close = name.size() - 1;
    if (open == std::string::npos || name.back() != ']')
        return Diagnostic{fmt::format("'{}': an element is written like y[3]", name)};
    return whole_in(std::string_view(name).substr(open + 1, close - open - 1), name);
}

}  // namespace lockstep::scene
