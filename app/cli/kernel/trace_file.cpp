#include "app/cli/kernel/trace_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <ostream>

#include "core/base/diagnostic.h"
#include "core/base/files.h"
#include "core/base/tell.h"
#include "core/trace/csv.h"
#include "core/trace/perfetto.h"
#include "core/trace/text.h"

namespace lockstep::cli {

void check_trace_name(const std::string& file) {
    const std::string extension = std::filesystem::path(file).extension().string();
    for (const char* known : {".json", ".csv", ".txt"})
        if (extension == known) return;
    if (!file.empty() && !std::filesystem::is_character_file(file) && !std::filesystem::is_fifo(file))
        throw Failure(fmt::format("--trace writes F.json for ui.perfetto.dev, F.csv or F.txt; '{}' is none of them", file));
}

namespace {

// One of the three writers, as the file's name ends.
template <class Csv, class Text, class Json>
void write_as_named(const std::string& file, Csv csv, Text text, Json json) {
    const std::string extension = std::filesystem::path(file).extension().string();
    write_file(file, [&](std::ostream& out) {
        extension == ".csv" ? csv(out) : extension == ".txt" ? text(out) : json(out);
    });
}

}  // namespace

void write_trace(const Trace& trace, const std::string& file) {
    write_as_named(
        file, [&](std::ostream& out) { write_csv(trace, out); }, [&](std::ostream& out) { out << format_text(trace); },
        [&](std::ostream& out) { write_perfetto(trace, out); });
}

void write_trace(const KernelTrace& trace, const std::string& kernel, const std::function<std::string(uint32_t pc)>& name_of,
                 const std::string& file) {
    write_as_named(
        file, [&](std::ostream& out) { write_csv(trace, out, name_of); },
        [&](std::ostream& out) { out << format_text(trace); },
        [&](std::ostream& out) { write_perfetto(trace, kernel, out, name_of); });
    if (trace.truncated)
        tell("note: the trace holds the cycles {} to {} of {}\n", trace.kept_from, trace.kept_until, trace.cycles);
}

}  // namespace lockstep::cli
