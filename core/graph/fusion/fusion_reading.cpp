// Reading the kernels' PTX: a few forms of addresses, followed from register to register. A register that is written twice
// (a loop's pointer) has no known form, but it is still known which parameters went into it.
#include "core/graph/fusion/fusion_reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <mutex>
#include <set>

#include "core/base/files.h"
#include "core/device/kernels/kernel_library.h"
#include "core/graph/fusion/fusion_statement.h"
#include "core/ptx/ptx.h"

namespace lockstep::graph {

namespace {
using ptx::Kind, ptx::Space, ptx::Statement, ptx::Type;
using Name = KernelReading::Name;

// What a register holds, as far as fusion asks.
struct Form {
    enum Kind : uint8_t {
        other,
        parameter,
        fixed,
        thread,
        block,
        block_size,
        thread_in_block,
        column,
        wide,
        scaled,
        address,
        product
    };
    Kind kind = other;
    int number = -1;                // the parameter's
    std::string_view index = {};    // wide, scaled, address: the 32-bit register
    int bytes = 0;                  // scaled, address: times this
    std::vector<int> factors = {};  // product of parameters
    bool of_position() const { return kind == thread || kind == block || kind == block_size || kind == thread_in_block; }
};

// Why a kernel with such a statement is not pointwise; "": it may be.
std::string_view objection_to(const Statement& statement, Kind kind) {
    switch (kind) {
        case Kind::lane_wise:
        case Kind::lane_wise_many:
        case Kind::special_register:
        case Kind::branch:
        case Kind::exit:
            return {};
        case Kind::load:
        case Kind::store:
            return is_ordered(statement) ? "others see when it accesses memory" : std::string_view();
        case Kind::nop:
        case Kind::trap:
        case Kind::texture:
        case Kind::surface:
            return "it does more than arithmetic, loads and stores";
        default:
            return "its threads exchange values";
    }
}

class Reading {
  public:
    explicit Reading(KernelReading& kernel) : kernel_(kernel), statements_(kernel.entry->statements), kinds_(kernel.kinds) {
        for (const Statement& statement : statements_) {
            const ptx::Opcode* const row = row_of(statement);
            kinds_.push_back(row ? row->kind : Kind::trap);
            kernel.special_functions = kernel.special_functions || (row && row->group == "special function");
        }
        find_names();
        for (const Statement& it : statements_) for_each_written(it, [&](std::string_view name) { ++written_[name]; });
        spread_origins();
        for (size_t i = 0; i < statements_.size(); ++i) follow(i);
        find_guard();
        find_stores();
    }

  private:
    const ptx::RegisterDeclaration* register_named(std::string_view name) const {
        size_t stem = name.size();
        while (stem > 0 && std::isdigit(static_cast<unsigned char>(name[stem - 1]))) --stem;
        for (const ptx::RegisterDeclaration& declaration : kernel_.entry->registers)
            if (declaration.count < 0 ? declaration.name == name
                                      : stem < name.size() && declaration.name == name.substr(0, stem))
                return &declaration;
        return nullptr;
    }

    // What each name in the statements is, and whether the kernel has all of it for itself.
    void find_names() {
        const ptx::Entry& entry = *kernel_.entry;
        for (size_t p = 0; p < entry.parameters.size(); ++p)
            kernel_.parameter[entry.parameters[p].name] = static_cast<int>(p);
        for (const ptx::Label& label : entry.labels) kernel_.names[label.name] = Name::label;
        kernel_.self_contained = entry.lists.empty() && entry.prototypes.empty();
        for (const ptx::Variable& variable : entry.variables) {
            kernel_.names[variable.name] = Name::shared;
            if (variable.space == Space::shared)
                kernel_.shared.push_back(&variable);
            else
                kernel_.self_contained = false;
        }
        for (size_t i = 0; i < statements_.size(); ++i) {
            if (kinds_[i] == Kind::call) kernel_.self_contained = false;
            for_each_name_in(statements_[i], [&](std::string_view name) {
                if (const auto [at, fresh] = kernel_.names.try_emplace(name, Name::other); fresh)
                    at->second = meaning_of(name);
                const bool loaded = kinds_[i] == Kind::load && accessed_space(statements_[i]) == Space::param;
                if (kernel_.names[name] == Name::other || (kernel_.names[name] == Name::parameter && !loaded))
                    reads_table_ = true;
            });
        }
    }
    Name meaning_of(std::string_view name) {
        if (register_named(name)) return Name::register_;
        if (kernel_.parameter.contains(name)) return Name::parameter;
        for (const ptx::Variable& variable : kernel_.module->variables)
            if (variable.name == name && variable.space == Space::shared && !variable.external) {
                kernel_.shared.push_back(&variable);
                return Name::shared;
            }
        if (name.starts_with("%nctaid")) kernel_.reads_grid_size = true;
        return name.starts_with('%') || name == "_" || name == "WARP_SZ" ? Name::special : Name::other;
    }

    // The parameter that a statement loads whole; -1: none.
    int loaded_parameter(size_t i) const {
        const Statement& it = statements_[i];
        if (kinds_[i] != Kind::load || it.operands.size() < 2 || accessed_space(it) != Space::param) return -1;
        const auto found = kernel_.parameter.find(it.operands[1].name);
        return found == kernel_.parameter.end() ? -1 : found->second;
    }

    // Which parameters' values may be in a register; by way of loads from memory nothing comes.
    void spread_origins() {
        for (bool again = true; again;) {
            again = false;
            for (size_t i = 0; i < statements_.size(); ++i) {
                std::set<int> sources;
                if (const int parameter = loaded_parameter(i); parameter >= 0)
                    sources.insert(parameter);
                else if (kinds_[i] != Kind::load)
                    for (size_t k = 1; k < statements_[i].operands.size(); ++k)
                        if (const ptx::Operand& operand = statements_[i].operands[k];
                            operand.kind != ptx::Operand::Kind::address)
                            for_each_name(operand, [&](std::string_view name) {
                                if (const auto found = origins_.find(name); found != origins_.end())
                                    sources.insert(found->second.begin(), found->second.end());
                            });
                if (sources.empty()) continue;
                for_each_written(statements_[i], [&](std::string_view target) {
                    std::set<int>& known = origins_[target];
                    const size_t before = known.size();
                    known.insert(sources.begin(), sources.end());
                    again = again || known.size() != before;
                });
            }
        }
    }

    Form form_of(std::string_view name) const {
        const auto found = forms_.find(name);
        return found == forms_.end() ? Form{} : found->second;
    }

    void follow(size_t i) {
        const Statement& it = statements_[i];
        const bool arithmetic = kinds_[i] == Kind::lane_wise || kinds_[i] == Kind::lane_wise_many ||
                                kinds_[i] == Kind::special_register || loaded_parameter(i) >= 0;
        if (!arithmetic) {
            for (size_t k = 0; k < it.operands.size(); ++k)
                if (it.operands[k].kind == ptx::Operand::Kind::address) note_access(i, it.operands[k]);
            return;
        }
        if (!it.guard.empty() || it.operands.empty() || written_[it.operands[0].name] != 1) return;
        if (Form made = form_made(i); made.kind != Form::other) forms_[it.operands[0].name] = std::move(made);
    }

    Form form_made(size_t i) const {
        const Statement& it = statements_[i];
        const std::string_view opcode = it.opcode;
        const auto name = [&](size_t k) { return k < it.operands.size() ? it.operands[k].name : std::string_view(); };
        const auto form = [&](size_t k) { return form_of(name(k)); };
        const auto number = [&](size_t k) -> int64_t {  // -1: none
            const bool given = k < it.operands.size() && it.operands[k].kind == ptx::Operand::Kind::integer;
            return given ? static_cast<int64_t>(it.operands[k].value) : -1;
        };
        if (const int parameter = loaded_parameter(i); parameter >= 0) {
            if (it.operands[1].value == 0) return {.kind = Form::parameter, .number = parameter};
        } else if (opcode == "cvta.to.global.u64" || opcode == "mov.u64" || opcode == "mov.b64") {
            return form(1);
        } else if (opcode == "mov.u32" || opcode == "mov.b32") {
            for (const auto& [special, kind] : {std::pair{"%ctaid.x", Form::block}, std::pair{"%ntid.x", Form::block_size},
                                                std::pair{"%tid.x", Form::thread_in_block}})
                if (name(1) == special) return {.kind = kind};
        } else if (opcode == "mad.lo.s32") {
            Form a = form(1), b = form(2);
            if (a.kind == Form::block_size) std::swap(a, b);
            if (a.kind == Form::block && b.kind == Form::block_size && form(3).kind == Form::thread_in_block)
                return {.kind = Form::thread};
        } else if (opcode == "mul.lo.s32") {
            const Form a = form(1), b = form(2);
            if (a.kind == Form::parameter && b.kind == Form::parameter)
                return {.kind = Form::product, .factors = {a.number, b.number}};
        } else if (opcode == "rem.s32") {
            if (form(1).kind == Form::thread && form(2).kind == Form::parameter)
                return {.kind = Form::column, .number = form(2).number};
        } else if (opcode == "cvt.s64.s32" || opcode == "cvt.u64.u32") {
            return {.kind = Form::wide, .index = name(1), .bytes = 1};
        } else if (opcode == "mul.wide.s32" || opcode == "mul.wide.u32") {
            return {.kind = Form::scaled, .index = name(1), .bytes = static_cast<int>(number(2))};
        } else if (opcode == "shl.b64") {
            if (form(1).kind == Form::wide && number(2) >= 0 && number(2) < 4)
                return {.kind = Form::scaled, .index = form(1).index, .bytes = 1 << number(2)};
        } else if (opcode == "add.s64") {
            Form a = form(1), b = form(2);
            if (b.kind == Form::parameter) std::swap(a, b);
            if ((a.kind == Form::parameter || a.kind == Form::fixed) && it.operands[2].kind == ptx::Operand::Kind::integer)
                return {.kind = Form::fixed, .number = a.number};
            if (a.kind == Form::parameter && (b.kind == Form::scaled || b.kind == Form::wide))
                return {.kind = Form::address, .number = a.number, .index = b.index, .bytes = b.bytes};
        }
        return {};
    }

    void note_access(size_t i, const ptx::Operand& address) {
        const Statement& it = statements_[i];
        const Space space = accessed_space(it);
        if (space == Space::shared || space == Space::local || space == Space::param) return;
        const bool load = kinds_[i] == Kind::load, store = kinds_[i] == Kind::store;
        MemoryUse access{.statement = i, .store = store, .writes = !load && kinds_[i] != Kind::matrix_load};
        access.bytes = static_cast<int>(ptx::size_of(accessed_type(it)));
        access.parameter = origin_of(address.name);
        if (access.parameter < 0)
            if (const auto found = origins_.find(address.name); found != origins_.end())
                mixed_.insert(found->second.begin(), found->second.end());
        if (access.parameter < 0 && !load && !store && kinds_[i] != Kind::atomic && kinds_[i] != Kind::async_copy) return;
        const ptx::Operand* const value = load                              ? &it.operands[0]
                                          : store && it.operands.size() > 1 ? &it.operands[1]
                                                                            : nullptr;
        const ptx::RegisterDeclaration* const declared =
            value && value->kind == ptx::Operand::Kind::name && !is_ordered(it) ? register_named(value->name) : nullptr;
        if (declared) {
            const auto width = static_cast<int>(ptx::size_of(declared->type));
            const char kind = ptx::name_of(accessed_type(it))[0];
            const bool zeros = access.bytes <= 2 && (kind == 'u' || kind == 'b') && (width == 2 || (width == 4 && !store));
            if (width == access.bytes || zeros) access.value = value->name, access.width = width;
        }
        const Form form = form_of(address.name);
        if (form.kind == Form::address && address.value == 0 && form.bytes == access.bytes && !access.value.empty())
            access.index = form.index;
        if (access.parameter >= 0) note_reach(access, form);
        kernel_.accesses.push_back(access);
    }
    void note_reach(const MemoryUse& access, const Form& form) {
        ParameterUse& use = kernel_.uses[size_t(access.parameter)];
        const Form index = form_of(access.index);
        const Reach reach = form.kind == Form::parameter || form.kind == Form::fixed ? Reach::fixed
                            : access.index.empty()                                   ? Reach::anywhere
                            : index.kind == Form::thread                             ? Reach::element
                            : index.kind == Form::block                              ? Reach::block
                            : index.kind == Form::column                             ? Reach::column
                                                                                     : Reach::anywhere;
        const auto join = [&](Reach& known) { known = known == Reach::none || known == reach ? reach : Reach::anywhere; };
        if (access.writes) join(use.writes);
        if (!access.store) join(use.reads);
        use.bytes = use.bytes == 0 || use.bytes == access.bytes ? access.bytes : -1;
    }

    bool is_pointer(int parameter) const {
        const ptx::Variable& it = kernel_.entry->parameters[size_t(parameter)];
        return it.type == Type::u64 || it.type == Type::b64 || it.type == Type::s64;
    }
    // The parameter that an address was made from: the only one, or the only one of 64 bits (its own sum with sizes).
    int origin_of(std::string_view base) const {
        const auto found = origins_.find(base);
        if (found == origins_.end()) return -1;
        if (found->second.size() == 1) return *found->second.begin();
        int pointer = -1, pointers = 0;
        for (const int parameter : found->second)
            if (is_pointer(parameter)) pointer = parameter, ++pointers;
        return pointers == 1 ? pointer : -1;
    }

    void refuse(std::string_view why) {  // "": not
        if (kernel_.why_not.empty()) kernel_.why_not = why;
    }

    // What keeps a thread from being an element, but for its number.
    void find_company() {
        KernelReading& k = kernel_;
        for (const MemoryUse& access : k.accesses)  // where it is not known which buffer is meant, all may be
            if (access.parameter < 0 && access.writes) refuse("it is not known which buffer it writes");
        for (const int parameter : mixed_)
            if (ParameterUse& use = k.uses[size_t(parameter)]; use.bytes == 0 && is_pointer(parameter))
                use = {.reads = Reach::anywhere, .writes = Reach::anywhere, .bytes = -1};
        if (!k.self_contained) refuse("it calls functions or has memory of its own");
        if (!k.shared.empty()) refuse("its threads share memory");
        for (size_t i = 0; i < statements_.size(); ++i) refuse(objection_to(statements_[i], kinds_[i]));
        if (reads_table_) refuse("it reads a table");
        const bool in_cluster = std::count(kinds_.begin(), kinds_.end(), Kind::cluster) != 0;
        if (reads_table_ || in_cluster || k.entry->required_cluster[0] != 0) k.self_contained = false;
    }

    void find_guard() {
        KernelReading& k = kernel_;
        find_company();
        k.omitted.assign(statements_.size(), false);
        for (size_t i = 0; i < statements_.size(); ++i) {
            k.omitted[i] = loaded_parameter(i) >= 0;
            if (k.thread.empty() && !statements_[i].operands.empty() &&
                form_of(statements_[i].operands[0].name).kind == Form::thread)
                k.thread = statements_[i].operands[0].name;
        }
        const size_t guard = k.thread.empty() ? statements_.size() : guard_of_thread();
        if (guard == statements_.size()) return refuse("a thread's number is not its element's");
        k.omitted[guard] = k.omitted[guard + 1] = true;
        const std::string_view beyond = statements_[guard].operands[0].name;
        // What only makes the thread's number is not needed again: the register stands for it.
        for (size_t i = 0; i < statements_.size(); ++i) {
            const std::string_view made = statements_[i].operands.empty() ? "" : statements_[i].operands[0].name;
            const Form form = form_of(made);
            if (form.of_position()) k.omitted[i] = true;
            for_each_name_in(statements_[i], [&](std::string_view name) {
                if (k.omitted[i]) return;
                if (name == beyond) refuse("its guard is used twice");
                if (form_of(name).of_position() && name != k.thread) refuse("it uses its block's number");
                if (k.names[name] == Name::special && name != "_") refuse("it asks where its thread is");
            });
        }
        bool writes = false;
        for (const ParameterUse& use : k.uses) writes = writes || use.writes != Reach::none;
        if (!writes) refuse("it writes nothing");
        k.pointwise = k.why_not.empty();
        find_positions();
    }

    // Where "if (thread >= bound) return" stands: a comparison and the branch to the end.
    size_t guard_of_thread() {
        std::string_view end;
        if (!kernel_.entry->labels.empty() && kernel_.entry->labels.back().statement + 1 == statements_.size() &&
            kinds_.back() == Kind::exit)
            end = kernel_.entry->labels.back().name;
        for (size_t i = 0; i + 1 < statements_.size(); ++i) {
            const Statement &test = statements_[i], &jump = statements_[i + 1];
            if (test.opcode != "setp.ge.s32" || test.operands[1].name != kernel_.thread || jump.opcode != "bra" ||
                end.empty() || jump.guard_negated || jump.guard != test.operands[0].name || jump.operands[0].name != end)
                continue;
            const Form limit = form_of(test.operands[2].name);
            if (limit.kind == Form::parameter) kernel_.bound = {limit.number};
            if (limit.kind == Form::product) kernel_.bound = limit.factors;
            if (!kernel_.bound.empty()) return i;
        }
        return statements_.size();
    }

    // Whether a value depends on the thread's number otherwise than by its addresses.
    void find_positions() {
        KernelReading& k = kernel_;
        for (size_t i = 0; i < statements_.size(); ++i) {
            if (k.omitted[i]) continue;
            const std::string_view opcode = statements_[i].opcode;
            const bool addresses = opcode == "mul.wide.s32" || opcode == "mul.wide.u32" || opcode == "cvt.s64.s32";
            const Form made = statements_[i].operands.empty() ? Form{} : form_of(statements_[i].operands[0].name);
            const bool column = made.kind == Form::column && k.bound.size() == 2 &&
                                std::count(k.bound.begin(), k.bound.end(), made.number) == 1 &&
                                (k.columns < 0 || k.columns == made.number);
            if (column) k.columns = made.number;
            for (const ptx::Operand& operand : statements_[i].operands)
                if (operand.name == k.thread && !addresses && !column) k.by_position = true;
        }
    }

    // A parameter whose only store no branch leads past.
    void find_stores() {
        std::map<std::string_view, size_t> labels;
        for (const ptx::Label& label : kernel_.entry->labels) labels[label.name] = label.statement;
        for (size_t p = 0; p < kernel_.uses.size(); ++p) {
            size_t stores = 0, at = 0;
            for (const MemoryUse& access : kernel_.accesses)
                if (access.store && access.parameter == static_cast<int>(p)) ++stores, at = access.statement;
            if (stores != 1 || !statements_[at].guard.empty()) continue;
            bool passed = false;
            for (size_t i = 0; i < statements_.size(); ++i) {
                if (kernel_.omitted[i]) continue;
                if (kinds_[i] == Kind::exit && i < at) passed = true;
                if (kinds_[i] != Kind::branch) continue;
                const size_t to = labels[statements_[i].operands[0].name];
                passed = passed || (i < at && to > at) || (i > at && to <= at);
            }
            kernel_.uses[p].always_stored = !passed;
        }
    }

    KernelReading& kernel_;
    const std::vector<Statement>& statements_;
    std::vector<Kind>& kinds_;
    std::unordered_map<std::string_view, int> written_;
    std::unordered_map<std::string_view, std::set<int>> origins_;
    std::unordered_map<std::string_view, Form> forms_;
    std::set<int> mixed_;
    bool reads_table_ = false;
};
}  // namespace

KernelReading read_kernel(std::shared_ptr<const ptx::Module> module, std::string_view kernel, std::string file) {
    KernelReading reading{.module = std::move(module), .file = std::move(file)};
    for (const ptx::Entry& entry : reading.module->entries)
        if (entry.name == kernel) reading.entry = &entry;
    if (!reading.entry || reading.entry->statements.empty()) {
        reading.entry = nullptr;
        reading.why_not = "its PTX cannot be read";
        return reading;
    }
    reading.uses.resize(reading.entry->parameters.size());
    const Reading read(reading);
    return reading;
}

const KernelReading& reading_of(std::string_view kernel) {
    static std::mutex mutex;
    static std::map<std::string_view, std::shared_ptr<const ptx::Module>> modules;
    static std::map<std::string_view, KernelReading> readings;
    const std::lock_guard lock(mutex);
    const device::KernelRow& row = device::kernel_named(kernel);
    if (const auto found = readings.find(row.name); found != readings.end()) return found->second;
    std::shared_ptr<const ptx::Module>& module = modules[row.file];
    if (!module) {
        const std::string path = fmt::format("kernels/ptx/{}.ptx", row.file.substr(0, row.file.rfind('.')));
        module = std::make_shared<const ptx::Module>(ptx::parse(read_file(resource_root() / path).value(), path).value());
    }
    return readings.emplace(row.name, read_kernel(module, row.name, std::string(row.file))).first->second;
}

std::string KernelReading::where() const {
    int line = 0;
    for (const MemoryUse& access : accesses)
        if (access.store && line == 0)
            for (int at = entry->statements[access.statement].location; at >= 0 && line == 0; --at)
                if (entry->locations[size_t(at)].file == 1) line = entry->locations[size_t(at)].line;
    return fmt::format("kernels/{}:{}", file, line);
}

const MemoryUse* KernelReading::access_at(size_t statement) const {
    const auto found =
        std::find_if(accesses.begin(), accesses.end(), [&](const MemoryUse& it) { return it.statement == statement; });
    return found == accesses.end() ? nullptr : &*found;
}

}  // namespace lockstep::graph
