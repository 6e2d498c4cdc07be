#include "core/runtime/report/names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/files.h"

namespace lockstep::runtime {
namespace {

bool is_in_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// What the calls of a line that allocate name, from left to right.
std::vector<std::string> names_at(const std::string& line) {
    constexpr std::array calls = std::to_array<std::string_view>(
        {"cudaMalloc", "cudaMallocManaged", "cudaMallocHost", "cudaHostAlloc", "cudaMallocPitch", "cudaMallocAsync"});
    std::vector<std::string> names;
    for (size_t at = 0; at < line.size() && line.compare(at, 2, "//") != 0;) {
        const size_t begin = at;
        while (at < line.size() && is_in_name(line[at])) ++at;
        const std::string_view word = std::string_view(line).substr(begin, at - begin);
        if (std::find(calls.begin(), calls.end(), word) == calls.end()) {
            at = std::max(at, begin + 1);
            continue;
        }
        const size_t open = line.find_first_not_of(' ', at);
        if (open == std::string::npos || line[open] != '(') continue;
        names.push_back(name_in(line.substr(open + 1)));
    }
    return names;
}

// "allocation 2", "pinned allocation 7": that there was no name.
bool is_number_alone(const std::string& name) {
    const size_t digits = name.find_last_not_of("0123456789") + 1;
    return digits < name.size() && name.substr(0, digits).ends_with("allocation ");
}

class SourceLines {
  public:
    std::string line(const CallSite& site) {
        const auto [found, is_new] = lines_.try_emplace(site.file);
        if (is_new)
            if (const Result<std::string> text = read_text(site.file, size_t{4} << 20)) {
                std::istringstream in(text.value());
                for (std::string line; std::getline(in, line);) found->second.push_back(std::move(line));
            }
        const auto number = static_cast<size_t>(site.line);
        return number <= found->second.size() ? found->second[number - 1] : "";
    }

  private:
    std::map<std::string, std::vector<std::string>> lines_;  // by file
};

void put_in_place(std::string& sentence, const std::map<std::string, std::string>& names) {
    for (size_t begin = 0; (begin = sentence.find('\'', begin)) != std::string::npos; ++begin) {
        const size_t end = sentence.find('\'', begin + 1);
        if (end == std::string::npos) return;
        const auto known = names.find(sentence.substr(begin + 1, end - begin - 1));
        if (known == names.end()) continue;
        sentence.replace(begin + 1, end - begin - 1, known->second);
        begin += known->second.size() + 1;
    }
}

}  // namespace

std::string name_in(const std::string& arguments) {
    size_t begin = 0, end = 0, cast_end = 0;
    for (int depth = 0; end < arguments.size(); ++end) {
        const char c = arguments[end];
        if (c == ',' && depth == 0) break;
        if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
        if (c == ')' || c == ']' || c == '}' || c == '>') --depth;
        if (depth < 0) break;  // the end of the call
        if (c == ')' && depth == 0 && cast_end == 0) cast_end = end + 1;
    }
    if (arguments.starts_with("(") && cast_end > 0 && cast_end < end) begin = cast_end;  // of (void**)&p and (void**)(&p)
    std::string name = arguments.substr(begin, end - begin);
    if (const size_t cast = name.find("_cast<"), of = name.find(">(", cast);
        cast != std::string::npos && of != std::string::npos)
        name.erase(0, of + 1);
    std::erase_if(name, [](char c) { return c == '&' || c == ' ' || c == '(' || c == ')'; });
    return name;
}

void name_allocations(Report& report) {
    std::map<std::pair<std::string, int>, std::vector<AllocationRecord*>> by_line;
    for (AllocationRecord& allocation : report.allocations)
        if (allocation.site.line > 0 && is_number_alone(allocation.name))
            by_line[{allocation.site.file, allocation.site.line}].push_back(&allocation);
    SourceLines sources;
    std::map<std::string, std::string> names;
    for (const auto& [place, allocations] : by_line) {
        const std::vector<std::string> said = names_at(sources.line(allocations.front()->site));
        if (said.size() != 1 && said.size() != allocations.size()) continue;  // a loop over several calls, a macro
        for (size_t k = 0; k < allocations.size(); ++k) {
            const std::string& name = said.size() == 1 ? said.front() : said[k];
            if (!name.empty()) names[std::exchange(allocations[k]->name, name)] = name;
        }
    }
    if (names.empty()) return;
    for (AllocationRecord& leak : report.leaks)
        if (const auto known = names.find(leak.name); known != names.end()) leak.name = known->second;
    for (auto& error : report.errors) put_in_place(error.message, names);
    for (auto* faults : {&report.faults, &report.warnings})
        for (auto& fault : *faults) {
            put_in_place(fault.message, names), put_in_place(fault.advice, names);
            if (const auto known = names.find(fault.allocation); known != names.end()) fault.allocation = known->second;
        }
    for (auto* sentences : {&report.races, &report.touches, &report.notes})
        for (std::string& sentence : *sentences) put_in_place(sentence, names);
}

}  // namespace lockstep::runtime
