// One search over everything that one can go to or do (Ctrl+K): lessons and their steps, models, kernels, lines, registers,
// cycles, workspaces and pictures, GPUs, settings, and the glossary. palette_rows.cpp says what there is, a row a kind.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::gui {

class Shell;
struct Point;
struct Ui;

struct PaletteEntry {
    std::string text, note;           // "A08 Coalescing", "Why do 32 neighbours ..."
    std::function<void(Shell&)> act;  // what choosing it does
    std::string_view group = {};      // "lesson": shown beside it
    int weight = 0;                   // of its group: of two that match as well, the heavier comes first
    std::string low = {};             // the text in lower case
};

struct PaletteRow {
    std::string_view group;
    int weight;
    void (*add)(Shell& shell, const std::string& query, std::vector<PaletteEntry>& entries);
    bool of_query = false;  // what there is depends on what is typed: "cycle 1200"
};
std::span<const PaletteRow> palette_rows();

// How well a query fits a text, both in lower case; 0: not at all. Equal, then its beginning, then its words' beginnings,
// then a part of it, then its letters in order.
int palette_score(std::string_view text, std::string_view query);

// The search while it is open.
struct PaletteSearch {
    static constexpr size_t most = 16;
    std::string query;
    std::vector<PaletteEntry> entries;  // all that there is
    std::vector<PaletteEntry> typed;    // that the query itself names
    std::vector<const PaletteEntry*> found;
    size_t selected = 0;
    bool whole = false;     // all of the query is marked: what is typed replaces it
    bool by_words = false;  // nothing is called like the query: what has some of its words was found
    void open(Shell& shell, std::string begins_with = {});
    void type(Shell& shell, std::string changed);  // another query
};

void draw_search_glass(Ui& ui, Point centre, uint32_t color);

}  // namespace lockstep::gui
