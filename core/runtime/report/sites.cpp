#include "core/runtime/report/sites.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <set>
#include <sstream>

#include "core/base/files.h"
#include "core/runtime/report/names.h"
#include "core/system/system.h"

namespace lockstep::runtime {
namespace {

constexpr char begin_of_site = '\x02', end_of_site = '\x03';  // in a sentence, around a place's number

struct CodeLine {
    std::string function, file;
    int line = 0;
};
using LinesOfAddress = std::map<uint64_t, std::vector<CodeLine>>;  // inlined functions first

std::filesystem::path line_finder() {
    static const std::filesystem::path found =
        system::find_program({"addr2line", "llvm-addr2line", "llvm-addr2line-14", "llvm-addr2line-16"});
    return found;
}

// "/home/a/main.cu:41 (discriminator 2)"; "??:?" where it is unknown.
void read_place(const std::string& text, CodeLine& code) {
    const std::string place = text.substr(0, text.find(" ("));
    const size_t colon = place.rfind(':');
    if (colon == std::string::npos || place.starts_with("??")) return;
    std::from_chars(place.data() + colon + 1, place.data() + place.size(), code.line);
    if (code.line > 0) code.file = std::filesystem::path(place.substr(0, colon)).lexically_normal().string();
}

// The answer to -a -f -i: the address, then a function and a place in turn.
LinesOfAddress lines_in(const std::string& answer) {
    LinesOfAddress lines;
    std::istringstream text(answer);
    std::vector<CodeLine>* current = nullptr;
    for (std::string line; std::getline(text, line);) {
        if (line.starts_with("0x")) {
            current = &lines[std::stoull(line.substr(2), nullptr, 16)];
            continue;
        }
        CodeLine code{.function = line};
        if (!current || !std::getline(text, line)) break;
        read_place(line, code);
        current->push_back(std::move(code));
    }
    return lines;
}

LinesOfAddress ask_lines(const std::string& module, const std::set<uint64_t>& addresses) {
    const TemporaryFolder folder;
    std::string words;
    for (const uint64_t address : addresses) words += fmt::format("{:#x}\n", address);
    write_file(folder.path() / "addresses", words);
    system::ChildLimits limits;
    limits.output_bytes = size_t{256} << 20;
    const auto outcome =
        system::run_program(line_finder(), {"-a", "-f", "-i", "-e", module, "@addresses"}, folder.path(), limits);
    return outcome.succeeded() ? lines_in(outcome.output) : LinesOfAddress();
}

// nvcc's functions for launches: __device_stub__Z5scalePi in a file of its own, in the function that has the kernel's name.
bool is_of_launch(const CodeLine& code) {
    return code.function.find("device_stub_") != std::string::npos || code.file.ends_with(".cudafe1.stub.c");
}

struct CodeStep {  // on the way from a call outwards
    const CodeLine* code = nullptr;
    bool ends_frame = false;  // the others of its frame were inlined into it
};

const std::vector<CodeLine>* lines_at(const CodePlace::Frame& frame, const std::map<std::string, LinesOfAddress>& lines) {
    const auto module = lines.find(frame.module);
    if (module == lines.end()) return nullptr;
    const auto found = module->second.find(frame.address);
    return found == module->second.end() || found->second.empty() ? nullptr : &found->second;
}

// How many steps belong to a launch: nvcc's own, then the function that stands for the kernel, whose line its begin has too.
// Where it only jumps to nvcc's it is not on the way.
size_t steps_of_launch(const std::vector<CodeStep>& steps, const CodePlace& place,
                       const std::map<std::string, LinesOfAddress>& lines) {
    size_t count = 0;
    for (size_t k = 0; k < steps.size(); ++k)
        if (is_of_launch(*steps[k].code)) count = k + 1;
    if (!place.has_stand_in || count == steps.size()) return count;
    const std::vector<CodeLine>* const begin = lines_at(place.stand_in, lines);
    const CodeLine& code = *steps[count].code;
    const bool is_stand_in = begin && begin->back().line > 0
                                 ? begin->back().line == code.line && begin->back().file == code.file
                                 : !steps[count].ends_frame;
    return is_stand_in ? count + 1 : count;
}

CallSite site_in(const CodePlace& place, const std::map<std::string, LinesOfAddress>& lines) {
    std::vector<CodeStep> steps;
    for (const CodePlace::Frame& frame : place.frames)
        if (const std::vector<CodeLine>* const found = lines_at(frame, lines))
            for (const CodeLine& code : *found) steps.push_back({&code, &code == &found->back()});
    CallSite outside;
    for (size_t k = steps_of_launch(steps, place, lines); k < steps.size(); ++k) {
        const CodeLine& code = *steps[k].code;
        if (code.line == 0 || code.file.ends_with(".cudafe1.cpp")) continue;  // nvcc's own lines
        if (!is_of_system(code.file)) return {code.file, code.line};
        if (outside.line == 0) outside = {code.file, code.line};
    }
    return outside;
}

void put_sites(std::string& sentence, const std::vector<CallSite>& sites) {
    for (size_t begin = 0; (begin = sentence.find(begin_of_site, begin)) != std::string::npos;) {
        const size_t end = sentence.find(end_of_site, begin);
        size_t number = SIZE_MAX;
        if (end != std::string::npos) std::from_chars(sentence.data() + begin + 1, sentence.data() + end, number);
        if (number >= sites.size()) break;
        const std::string text = sites[number].line > 0 ? text_of(sites[number]) : "an unknown line";
        sentence.replace(begin, end + 1 - begin, text);
        begin += text.size();
    }
}

}  // namespace

bool is_of_system(const std::string& file) {
    for (const char* part : {"/usr/include/", "/usr/lib/", "/lib/x86_64-linux-gnu/", "-linux/include/", "/usr/local/cuda",
                             "/cuda/include/", "/kernels/include/program/", "/include/c++/"})
        if (file.find(part) != std::string::npos) return true;
    return false;
}

std::string text_of(const CallSite& site) {
    if (site.line > 0) return fmt::format("{}:{}", site.file, site.line);
    return site.place >= 0 ? fmt::format("{}{}{}", begin_of_site, site.place, end_of_site) : std::string();
}

void resolve_sites(Report& report) {
    if (report.places.empty()) return;
    std::map<std::string, std::set<uint64_t>> wanted;
    for (const CodePlace& place : report.places) {
        for (const CodePlace::Frame& frame : place.frames)
            if (!is_of_system(frame.module)) wanted[frame.module].insert(frame.address);
        if (place.has_stand_in && !place.stand_in.module.empty())
            wanted[place.stand_in.module].insert(place.stand_in.address);
    }
    std::map<std::string, LinesOfAddress> lines;
    if (!line_finder().empty())
        for (const auto& [module, addresses] : wanted) lines[module] = ask_lines(module, addresses);
    std::vector<CallSite> sites;
    for (const CodePlace& place : report.places) sites.push_back(site_in(place, lines));

    const auto resolve = [&](CallSite& site) {
        if (site.place >= 0 && static_cast<size_t>(site.place) < sites.size())
            if (const CallSite& found = sites[static_cast<size_t>(site.place)]; found.line > 0) site = found;
        site.place = -1;
    };
    for (auto& launch : report.launches) resolve(launch.site);
    for (auto& copy : report.copies) resolve(copy.site);
    for (auto& call : report.calls) resolve(call.site);
    for (auto* allocations : {&report.allocations, &report.leaks})
        for (auto& allocation : *allocations) resolve(allocation.site), resolve(allocation.freed_at);
    for (auto& error : report.errors) resolve(error.site), put_sites(error.message, sites);
    for (auto* faults : {&report.faults, &report.warnings})
        for (auto& fault : *faults) put_sites(fault.message, sites);
    for (auto* sentences : {&report.races, &report.touches, &report.notes})
        for (std::string& sentence : *sentences) put_sites(sentence, sites);
    report.places.clear();
    name_allocations(report);
}

}  // namespace lockstep::runtime
