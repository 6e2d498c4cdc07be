// The rows of the kit: what of the die and of the power hangs on which figure, in groups. Rows sum to their group, and the
// groups to the die, exactly; all of it is an estimate.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/gui/view.h"

namespace lockstep::gui {

struct KitRow {
    std::string_view field;  // of the table of GPUs; empty: of several
    std::string label, value;
    double mm2 = 0, watts = 0;
    const lessons::Puzzle::Free* free = nullptr;  // null: it stays as it is
    std::vector<std::string_view> of = {};        // fields of several
};
bool is_limit(const KitRow& row, const BuiltDesign* shown);  // of the design's run
struct KitGroup {
    model::PartGroup group = model::PartGroup::sms;
    double mm2 = 0, watts = 0;
    std::vector<KitRow> rows;
};
// The same parts with the watts that they took in the design's run. One that it does not have took none.
model::AreaEstimate with_watts_of(model::AreaEstimate estimate, const BuiltDesign& design);
std::vector<KitGroup> kit_of(const BuildTask& task, const model::GpuSpec& gpu, const model::AreaEstimate& area);

// How a group is drawn everywhere: the colour and its twin, letter and hatch.
struct GroupCode {
    Color color;
    Hatch hatch;
    char letter;
};
GroupCode code_of(model::PartGroup group);
void group_box(Ui& ui, const Rect& box, model::PartGroup group);  // with its letter in the middle, where there is room

// Of the design that the handles stand at, once it has run; null: it has not.
const BuiltDesign* shown_design(const Session& session, const Snapshot& snapshot);
// The one that it is compared with, as the desk says: the one before it, the first, or the fastest other one within the
// budget; null: there is none.
const BuiltDesign* earlier_design(const Session& session, const Snapshot& snapshot);
// What is other in `to`, in words: "channels 2 to 4, L2 4 to 1 MiB"; without values "channels up, L2 down".
std::string change_words(const BuildTask& task, const lessons::Figures& from, const lessons::Figures& to,
                         bool values = true);
// A change of the newest design that a run has shown to gain; null: none is known.
const BuiltDesign* proposed_design(const Session& session, const Snapshot& snapshot);
// Whether its values may be seen: in a puzzle they have to be asked for.
bool tells_values(const BuildDesk& desk);
// What the button under it does (key Y): the next puzzle after gold, else the values of what to change next, else that
// change.
void take_next(Session& session, const Snapshot& snapshot);
void next_hint(BuildDesk& desk);                  // key H
void compare_next(BuildDesk& desk);               // key C: with the design before, the first, the fastest other one
std::string puzzle_after(const BuildDesk& desk);  // its name; "": there is none
std::string label_of(std::string_view field);     // "resident warps an SM"
// Its value there, as the kit writes it, with the unit apart: "48" and " KiB".
std::pair<std::string, std::string_view> value_of_row(const model::GpuSpec& gpu, std::string_view field);
std::string limit_sentence(const BuiltDesign& design);
// The same, and that no handle of the task reaches it, where none does.
std::string limit_sentence(const BuildTask& task, const BuiltDesign& design);

// The groups side by side as a bar: shares of `most`, from the left, without gaps; they sum to `total`.
struct GroupShare {
    model::PartGroup group = model::PartGroup::sms;
    double from = 0, to = 0;
};
std::vector<GroupShare> shares_of_groups(const std::vector<KitGroup>& groups, bool watts, double total, double most);
Color medal_color(lessons::Medal medal, const Theme& theme);

}  // namespace lockstep::gui
