#include "app/cli/trace_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <ostream>

#include "core/base/diagnostic.h"
#include "core/base/files.h"
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

void write_trace(const Trace& trace, const std::string& file) {
    const std::string extension = std::filesystem::path(file).extension().string();
    write_file(file, [&](std::ostream& out) {
        if (extension == ".csv")
            write_csv(trace, out);
        else if (extension == ".txt")
            out << format_text(trace);
        else
            write_perfetto(trace, out);
    });
}

}  // namespace lockstep::cli
