// A run as a page for a browser, F.html: the warps of its traced SM with hover, zoom and a clock, its source with what each
// line waited, and what limits it, opened where its sender stood. All of it is in the one file, which asks for no server, no
// network and no installation. Unlike F.lockstep it holds what the run showed, not what is needed to run it again. Its
// program is assets/page/run.html, which the Python package's pages use too.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "app/gui/session.h"
#include "app/gui/widgets/theme.h"

namespace lockstep::gui {

constexpr size_t most_page_spans = 300'000;  // issues and waits: some 12 MB

bool is_page_file(const std::filesystem::path& file);  // by its name
std::string page_theme(const Theme& theme);            // "dark" or "light", as pages know them
// Of the kernel on show. Throws Failure where there is none, or while a question about it is open.
std::string page_of_run(const Session& session, const Focus& focus, const std::string& theme);

}  // namespace lockstep::gui
