// Symbols are functions, kernels and variables of the module. Those with a linkage are known to all parts; the others are
// renamed where another part has the name. The merged Module is printed and parsed again, so that its views, lines and
// texts are those of one text.
#include "core/ptx/link/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <unordered_map>
#include <unordered_set>

#include "core/ptx/parse/printer.h"
#include "core/ptx/ptx.h"

namespace lockstep::ptx {
namespace {

using Names = std::unordered_map<std::string_view, std::string_view>;  // old -> new

bool is_own(std::string_view linkage) {
    return linkage.empty();
}
bool is_strong(std::string_view linkage) {
    return linkage == ".visible";
}

// What the hardware's own library has, and what is refused where a kernel calls it.
bool of_system(std::string_view name) {
    return name == "vprintf" || name == "malloc" || name == "free" || name.starts_with("__assert") ||
           name.starts_with("cuda") || name.starts_with("__cuda") || name.starts_with("__nv");
}

std::string shown(std::string_view name) {
    const std::string readable = readable_name(name.substr(0, 200));
    return readable.empty() ? std::string(name.substr(0, 200)) : readable;
}

// clang 14 gives the host's statics that the device has a suffix, "_ZL5scale__static__9b5f8495fbf2fb7d", but not wherever it
// names them: here they are called what they are in the source.
std::string_view without_suffix(std::string_view name) {
    constexpr size_t digits = 16;  // at most: a hash is written without leading zeros
    for (const std::string_view mark : {"__static__", "__intern__"}) {
        const size_t at = name.rfind(mark);
        if (at == std::string_view::npos || at == 0) continue;
        const size_t length = name.size() - at - mark.size();
        if (length == 0 || length > digits) continue;
        if (name.find_first_not_of("0123456789abcdef", at + mark.size()) == std::string_view::npos)
            return name.substr(0, at);
    }
    return name;
}

struct Definition {
    size_t part = 0;
    std::string_view linkage;
};

// The number behind the text's first digit: 80 of sm_80a, 7008 of 7.8, so that later ones are larger.
int rank_of_target(const std::string& target) {
    int number = 0;
    if (const size_t at = target.find_first_of("0123456789"); at != std::string::npos)
        std::from_chars(target.data() + at, target.data() + target.size(), number);
    return number;
}
int rank_of_version(const std::string& version) {
    int major = 0, minor = 0;
    const auto [dot, error] = std::from_chars(version.data(), version.data() + version.size(), major);
    if (error == std::errc() && dot < version.data() + version.size())
        std::from_chars(dot + 1, version.data() + version.size(), minor);
    return 1000 * major + minor;
}

// Other names for those in `names`, wherever a function's own declarations do not hide them.
class Renaming {
  public:
    explicit Renaming(const Names& names) : names_(names) {}

    void rename(std::string_view& name) const {
        if (const auto found = names_.find(name); found != names_.end()) name = found->second;
    }
    void rename(Variable& variable) const {
        rename(variable.name);
        for (Reference& reference : variable.references) rename(reference.name);
    }
    void rename(Entry& entry) const {
        rename(entry.name);
        Names visible = names_;
        for (const auto* list : {&entry.parameters, &entry.results, &entry.variables})
            for (const Variable& own : *list) visible.erase(own.name);
        for (const RegisterDeclaration& own : entry.registers) visible.erase(own.name);
        const Renaming inside(visible);
        for (Statement& statement : entry.statements) inside.rename(statement.operands);
        for (Variable& own : entry.variables)
            for (Reference& reference : own.references) inside.rename(reference.name);
        for (TargetList& list : entry.lists)
            if (list.of_calls)
                for (std::string_view& target : list.targets) inside.rename(target);
    }

  private:
    void rename(std::vector<Operand>& operands) const {  // they nest at most three deep: the parser sees to it
        for (Operand& operand : operands) {
            if (!operand.name.empty()) rename(operand.name);
            if (!operand.elements.empty()) rename(operand.elements);
        }
    }
    const Names& names_;
};

class ModuleLinker {
  public:
    ModuleLinker(std::span<const Module> parts, Linked& linked) : parts_(parts.begin(), parts.end()), linked_(linked) {}

    // Empty: it went well.
    std::string run() {
        for (Module& module : parts_) take_suffixes(module);
        for (size_t part = 0; part < parts_.size() && problem_.empty(); ++part)
            each_symbol(parts_[part], [&](std::string_view name, std::string_view linkage, bool defined) {
                all_.insert(name);
                if (defined && !is_own(linkage)) define(name, {part, linkage});
            });
        for (size_t part = 0; part < parts_.size(); ++part)
            for (const auto& [alias, function] : parts_[part].aliases) define(alias, {part, ".weak"});
        for (size_t part = 0; part < parts_.size() && problem_.empty(); ++part) {
            rename_own(part, parts_[part]);
            merge_files(parts_[part]);
            merge(part, parts_[part]);
        }
        return problem_;
    }

  private:
    template <class Visit>
    static void each_symbol(const Module& module, Visit&& visit) {
        for (const Entry& kernel : module.entries) visit(kernel.name, kernel.linkage, true);
        for (const Entry& function : module.functions) visit(function.name, function.linkage, function.defined);
        for (const Variable& variable : module.variables)
            visit(variable.name, variable.linkage, variable.linkage != ".extern");
    }

    static void rename_all(Module& module, const Names& names) {
        if (names.empty()) return;
        const Renaming renaming(names);
        for (Entry& kernel : module.entries) renaming.rename(kernel);
        for (Entry& function : module.functions) renaming.rename(function);
        for (Variable& variable : module.variables) renaming.rename(variable);
        for (auto& [alias, function] : module.aliases) renaming.rename(function);
    }

    void take_suffixes(Module& module) {
        Names names;
        const auto take = [&](auto& symbol) {
            const std::string_view plain = without_suffix(symbol.name);
            if (plain == symbol.name) return;
            names.emplace(symbol.name, plain);
            symbol.linkage = {};
        };
        for (Entry& kernel : module.entries) take(kernel);
        for (Variable& variable : module.variables) take(variable);
        if (names.empty()) return;
        std::erase_if(module.variables, [&](const Variable& variable) {
            return variable.linkage == ".extern" && std::any_of(names.begin(), names.end(), [&](const auto& renamed) {
                       return renamed.second == variable.name;
                   });
        });
        rename_all(module, names);
    }

    void define(std::string_view name, const Definition& definition) {
        const auto [known, fresh] = definitions_.try_emplace(name, definition);
        if (fresh || known->second.part == definition.part) return;
        if (is_strong(known->second.linkage) && is_strong(definition.linkage)) {
            problem_ = fmt::format("'{}' is defined in {} and again in {}", shown(name), parts_[known->second.part].file,
                                   parts_[definition.part].file);
        } else if (is_strong(definition.linkage)) {
            known->second = definition;
        }
    }

    // A part's own symbol keeps its name if it is the first to have it.
    void rename_own(size_t part, Module& module) {
        Names names;
        each_symbol(module, [&](std::string_view name, std::string_view linkage, bool) {
            if (!is_own(linkage) || names.contains(name)) return;
            const auto [owner, first] = owners_.try_emplace(name, part);
            if ((first || owner->second == part) && !definitions_.contains(name)) return;
            std::string other;
            for (size_t number = part + 1; other.empty() || all_.contains(other); ++number)
                other = fmt::format("{}${}", name, number);
            kept_.push_back(std::move(other));
            all_.insert(kept_.back());
            names.emplace(name, kept_.back());
            linked_.renamed[part].emplace(std::string(name), kept_.back());
        });
        rename_all(module, names);
    }

    void merge_files(Module& module) {
        std::vector<std::string>& files = linked_.module.files;
        std::vector<int> numbers(module.files.size(), 0);
        for (size_t k = 1; k < module.files.size(); ++k) {
            if (files.empty()) files.emplace_back();
            const auto known = std::find(files.begin() + 1, files.end(), module.files[k]);
            numbers[k] = static_cast<int>(known - files.begin());
            if (known == files.end()) files.push_back(module.files[k]);
        }
        const auto renumber = [&](int& file) {
            if (file > 0 && static_cast<size_t>(file) < numbers.size()) file = numbers[static_cast<size_t>(file)];
        };
        for (auto* list : {&module.entries, &module.functions})
            for (Entry& entry : *list)
                for (LineLocation& at : entry.locations) {
                    renumber(at.file);
                    renumber(at.inlined_file);
                }
    }

    bool is_kept(size_t part, std::string_view name, std::string_view linkage) const {
        if (is_own(linkage)) return true;
        const auto found = definitions_.find(name);
        return found != definitions_.end() && found->second.part == part;
    }

    void merge(size_t part, Module& module) {
        Module& whole = linked_.module;
        if (rank_of_target(module.target) > rank_of_target(whole.target)) whole.target = module.target;
        if (rank_of_version(module.version) > rank_of_version(whole.version)) whole.version = module.version;
        for (Entry& kernel : module.entries)
            if (is_kept(part, kernel.name, kernel.linkage)) whole.entries.push_back(std::move(kernel));
        for (Entry& function : module.functions) {
            if (function.defined ? is_kept(part, function.name, function.linkage) : !definitions_.contains(function.name)) {
                if (!function.defined) {
                    if (!of_system(function.name) && problem_.empty())
                        problem_ = fmt::format("{} calls '{}', which is declared there and defined in none of the files",
                                               parts_[part].file, shown(function.name));
                    if (!declared_.insert(function.name).second) continue;
                }
                whole.functions.push_back(std::move(function));
            }
        }
        for (Variable& variable : module.variables) merge_variable(part, std::move(variable));
        whole.aliases.insert(module.aliases.begin(), module.aliases.end());
    }

    void merge_variable(size_t part, Variable variable) {
        Module& whole = linked_.module;
        if (variable.linkage != ".extern") {
            if (is_kept(part, variable.name, variable.linkage)) whole.variables.push_back(std::move(variable));
        } else if (variable.space == Space::shared) {  // sized by the launch: one for all
            const auto known = std::find_if(whole.variables.begin(), whole.variables.end(),
                                            [&](const Variable& v) { return v.name == variable.name; });
            if (known == whole.variables.end())
                whole.variables.push_back(std::move(variable));
            else
                known->align = std::max(known->align, variable.align);
        } else if (!definitions_.contains(variable.name) && problem_.empty()) {
            problem_ = fmt::format("{} uses the variable '{}', which is declared there and defined in none of the files",
                                   parts_[part].file, shown(variable.name));
        }
    }

    std::vector<Module> parts_;
    Linked& linked_;
    std::string problem_;
    std::unordered_map<std::string_view, Definition> definitions_;  // of names with a linkage
    std::unordered_map<std::string_view, size_t> owners_;           // of the others: the first part
    std::unordered_set<std::string_view> all_, declared_;
    std::deque<std::string> kept_;  // new names
};

}  // namespace

std::string Linked::name_in(size_t part, const std::string& name) const {
    if (part >= renamed.size()) return name;
    std::string plain(without_suffix(name));
    const auto found = renamed[part].find(plain);
    return found == renamed[part].end() ? plain : found->second;
}

Result<Linked> link(std::span<const Module> parts, const std::string& file) {
    Linked linked;
    linked.renamed.resize(parts.size());
    std::string text;
    {
        ModuleLinker linker(parts, linked);  // holds the new names until they are printed
        if (std::string problem = linker.run(); !problem.empty()) return Diagnostic{std::move(problem)};
        text = print(linked.module);
    }
    linked.module = {};
    Result<Module> whole = parse(text, file);
    if (!whole) return whole.error();
    linked.module = std::move(whole).value();
    return linked;
}

}  // namespace lockstep::ptx
