#include "lessons/player/pinned.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/scene/cluster/parallel_scene.h"

namespace lockstep::lessons {

using namespace scene;

namespace {

bool may_change(const std::vector<std::string>& changes, const std::string& what, const std::string& row) {
    return std::any_of(changes.begin(), changes.end(),
                       [&](const std::string& each) { return each == what || each == what + "@row:" + row; });
}

std::string list_of(const std::vector<std::string>& changes) {
    std::string list;
    for (size_t i = 0; i < changes.size(); ++i)
        list += (i == 0 ? "" : i + 1 == changes.size() ? " and " : ", ") + changes[i];
    return list;
}

// What of one row is not the starter's.
std::string changed_row(const ParallelText& row, const ParallelText& starter, const std::vector<std::string>& changes) {
    if (row.head != starter.head && !may_change(changes, "head", starter.name))
        return fmt::format("it begins with '{}', and the task with '{}'", row.head, starter.head);
    std::set<std::string> keys;
    for (const auto& [key, value] : row.settings) keys.insert(key);
    for (const auto& [key, value] : starter.settings) keys.insert(key);
    for (const std::string& key : keys) {
        const auto mine = row.settings.find(key), task = starter.settings.find(key);
        const bool here = mine != row.settings.end(), there = task != starter.settings.end();
        if (here && there && mine->second == task->second) continue;
        if (may_change(changes, key, starter.name)) continue;
        if (!there) return fmt::format("{}={} is no setting of the task", key, mine->second);
        return here ? fmt::format("{}={} is {}={} in the task", key, mine->second, key, task->second)
                    : fmt::format("{}={} of the task is missing", key, task->second);
    }
    const auto alike = [](const scene::ParallelList& a, const scene::ParallelList& b) {
        return a.number == b.number && a.text == b.text;
    };
    const bool same_lists =
        std::equal(row.lists.begin(), row.lists.end(), starter.lists.begin(), starter.lists.end(), alike);
    if (!same_lists && !may_change(changes, "lists", starter.name)) return "the lists of ranks or rounds are the task's";
    return {};
}

// As a person writes it.
std::string_view verb_of(const HostStatement& statement) {
    switch (statement.verb) {
        case model::HostVerb::allocate:
            return "malloc";
        case model::HostVerb::release:
            return "free";
        case model::HostVerb::work:
            return "work";
        case model::HostVerb::copy_in:
            return "h2d";
        case model::HostVerb::copy_out:
            return "d2h";
        case model::HostVerb::copy_within:
            return "d2d";
        case model::HostVerb::launch:
            return "launch";
        case model::HostVerb::record:
            return "event";
        case model::HostVerb::wait:
            return "wait";
        case model::HostVerb::synchronize:
            break;
    }
    return "sync";
}

// An operation as the task counts it: without its stream, its line and the name of an event.
std::string operation_of(const HostText& program, const HostStatement& statement) {
    const auto slice = [&](const HostSlice& s) {
        return s.array < 0 ? std::string()
                           : fmt::format("{}[{}:{}]", program.arrays[static_cast<size_t>(s.array)].name, s.first, s.past);
    };
    std::string text(verb_of(statement));
    if (!statement.kernel.empty()) {
        text += " " + statement.kernel + "(";
        for (const HostArgument& argument : statement.arguments)
            text += (argument.is_slice ? slice(argument.slice) : argument.number) + ",";
        text += fmt::format(") grid {},{},{} block {},{},{} shared {}", statement.grid.x, statement.grid.y, statement.grid.z,
                            statement.block.x, statement.block.y, statement.block.z, statement.shared);
    }
    return text + " " + slice(statement.to) + " " + slice(statement.from) + fmt::format(" {}", statement.us);
}

// The first call in the term whose name is in `names`; null: none is.
const Term* call_among(const Term& term, const std::vector<std::string>& names) {
    if (term.kind == Term::Kind::call && std::find(names.begin(), names.end(), term.name) != names.end()) return &term;
    for (const Term& part : term.parts)
        if (const Term* found = call_among(part, names)) return found;
    return nullptr;
}

}  // namespace

std::string changed_rows(const std::string& text, const std::string& starter, const std::vector<std::string>& changes) {
    if (changes.empty()) return {};
    const auto mine = parse_parallel(text, {}), task = parse_parallel(starter, {});
    if (!mine || !task) return {};  // each kind's reader has its own words for that
    const size_t rows = task.value().size();
    if (mine.value().size() != rows)
        return fmt::format("the task has {} row{}, and here {}", rows, rows == 1 ? "" : "s",
                           mine.value().size() == 1 ? "is one" : fmt::format("are {}", mine.value().size()));
    for (size_t i = 0; i < rows; ++i) {
        const std::string changed = changed_row(mine.value()[i], task.value()[i], changes);
        if (changed.empty()) continue;
        return fmt::format("{}{}: what may be changed {} {}",
                           rows == 1 ? "" : fmt::format("in row '{}' ", task.value()[i].name), changed,
                           changes.size() == 1 ? "is" : "are", list_of(changes));
    }
    return {};
}

std::string changed_operations(const HostText& program, const HostText& starter, const std::vector<std::string>& changes) {
    if (changes.empty()) return {};
    const auto kept = [&](const HostText& text) {
        std::multiset<std::string> operations;
        for (const HostStatement& statement : text.statements)
            if (!may_change(changes, std::string(verb_of(statement)), "")) operations.insert(operation_of(text, statement));
        return operations;
    };
    const std::multiset<std::string> mine = kept(program), task = kept(starter);
    for (const HostStatement& statement : program.statements) {
        const std::string operation = operation_of(program, statement);
        if (mine.contains(operation) && mine.count(operation) > task.count(operation))
            return fmt::format("line {}, '{}', is no operation of the task, or one too many: what may be changed are {}",
                               statement.line, statement.text, list_of(changes));
    }
    for (const HostStatement& statement : starter.statements) {
        const std::string operation = operation_of(starter, statement);
        if (task.contains(operation) && task.count(operation) > mine.count(operation))
            return fmt::format("'{}' of the task is missing, or there as it was not: what may be changed are {}",
                               statement.text, list_of(changes));
    }
    return {};
}

std::string function_not_allowed(const TapeText& program, const std::vector<std::string>& without) {
    for (const TapeStatement& statement : program.statements)
        if (const Term* call = call_among(statement.term, without))
            return fmt::format("line {} uses {}(), without which this is to be done", statement.line, call->name);
    return {};
}

}  // namespace lockstep::lessons
