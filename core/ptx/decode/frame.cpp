// Scopes: a name is looked up in its scope, then in those around it, then among the parameters (scope -1), then in the
// module. Declarations "%r<6>" stand for %r0 to %r5; only registers that an instruction names get a slot.
#include "core/ptx/decode/frame.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cstring>
#include <deque>

namespace lockstep::ptx {
namespace {

constexpr uint64_t most_parameter_bytes = 32 * 1024;
constexpr uint64_t most_shared_bytes = 256 * 1024;
constexpr uint64_t most_local_bytes = 512 * 1024;
constexpr uint64_t most_variable_bytes = uint64_t{1} << 30;
constexpr size_t most_variables = 16'384;  // .global and .const: a launch looks for each among all allocations
constexpr uint32_t most_register_bytes = 4 << 20;
constexpr int parameters = -1;

uint64_t align_up(uint64_t value, uint64_t align) {
    return (value + align - 1) / align * align;
}

}  // namespace

Common::Common(const Module& m, const Rows& rows_of_opcodes) : module(m), table(rows_of_opcodes) {
    for (size_t i = 0; i < m.functions.size(); ++i) functions.try_emplace(m.functions[i].name, i);
    for (const auto& [alias, function] : m.aliases)
        if (const auto found = functions.find(function); found != functions.end())
            functions.try_emplace(alias, found->second);
}

Located* Common::place(Program& program, const Variable& v, Located& at) {
    at = Located{&v, 0, no_variable};
    if (v.space == Space::shared && v.external) {
        dynamic.push_back(&at);
        dynamic_align = std::max({dynamic_align, v.align, 16u});
    } else if (v.space == Space::shared) {
        shared = align_up(shared, v.align);
        at.offset = shared;
        program.shared_variables.push_back(
            {std::string(v.name), static_cast<uint32_t>(shared), static_cast<uint32_t>(v.bytes)});
        shared += v.bytes;
        if (shared > most_shared_bytes) throw Complaint{"a kernel has at most 256 KiB of shared memory", v.place};
    } else {
        device += v.bytes;
        if (device > most_variable_bytes) throw Complaint{"the variables of a module have at most 1 GiB", v.place};
        if (program.variables.size() >= most_variables)
            throw Complaint{"a module has at most 16384 .global and .const variables", v.place};
        at.index = static_cast<int32_t>(program.variables.size());
        std::vector<std::byte> initial = v.initial;
        if (!initial.empty()) initial.resize(v.bytes);
        program.variables.push_back({std::string(v.name), v.space, v.opaque, v.bytes, v.align, std::move(initial), {}});
        if (!v.references.empty()) referring.push_back({static_cast<size_t>(at.index), &v});
    }
    return &at;
}

void Common::place_variables(Program& program, const std::unordered_set<std::string_view>& named) {
    for (const Variable& v : module.variables)
        if (v.space != Space::shared || named.contains(v.name))
            if (const auto [at, fresh] = variables.try_emplace(v.name); fresh) place(program, v, at->second);
}

// The addresses among the initial values: those of functions are known, those of variables only at launch.
void Common::resolve(Program& program, size_t index, const Reference& r) {
    GlobalVariable& variable = program.variables[index];
    if (const auto v = variables.find(r.name); v != variables.end()) {
        if (v->second.index == no_variable)
            throw Complaint{"'" + std::string(r.name.substr(0, 80)) + "' is not a .global or .const variable", r.place};
        variable.addresses.push_back({r.at, r.bytes, r.shift, v->second.index, r.addend});
        return;
    }
    const auto function = functions.find(r.name);
    size_t number = function == functions.end() ? module.functions.size() : function->second;
    if (function == functions.end()) {  // a kernel?
        const auto kernel = std::find_if(module.entries.begin(), module.entries.end(),
                                         [&](const Entry& entry) { return entry.name == r.name; });
        if (kernel == module.entries.end())
            throw Complaint{"unknown name '" + std::string(r.name.substr(0, 80)) + "'", r.place};
        number += static_cast<size_t>(kernel - module.entries.begin());
    }
    const uint64_t address = address_of_function(number) + r.addend;
    const uint64_t bits = address >> r.shift;
    if (r.at + r.bytes <= variable.initial.size()) std::memcpy(variable.initial.data() + r.at, &bits, r.bytes);
}

void Common::finish(Program& program) {
    for (const auto& [index, v] : referring)
        for (const Reference& r : v->references) resolve(program, index, r);
    program.static_shared = static_cast<uint32_t>(shared);
    program.dynamic_shared_offset = static_cast<uint32_t>(align_up(shared, dynamic_align));
    for (Located* located : dynamic) {
        located->offset = program.dynamic_shared_offset;
        program.shared_variables.push_back({std::string(located->variable->name), program.dynamic_shared_offset, 0});
    }
}

Frame::Frame(const Entry& entry, Program& program, Common& common, size_t function)
    : entry_(entry), program_(program), common_(common), function_(function) {
    for (size_t i = 0; i < entry.registers.size(); ++i)
        declarations_.try_emplace({entry.registers[i].name, entry.registers[i].scope}, i);
    for (const Label& label : entry.labels) labels_.try_emplace({label.name, label.scope}, label.statement);
    for (const TargetList& list : entry.lists) lists_.try_emplace({list.name, list.scope}, &list);
    for (const Prototype& prototype : entry.prototypes)
        prototypes_.try_emplace({prototype.name, prototype.scope}, &prototype);
    if (entry.function) {
        lay_out_formals(entry.results, program.functions[function].results);
        lay_out_formals(entry.parameters, program.functions[function].parameters);
    } else {
        lay_out_parameters();
    }
    lay_out_variables();
    program.functions[function].local_bytes = static_cast<uint32_t>(align_up(local_bytes_, 16));
}

void Frame::lay_out_parameters() {
    uint64_t at = 0;
    for (const Variable& v : entry_.parameters) {
        at = align_up(at, v.align);
        variables_.try_emplace({v.name, parameters}, Located{&v, at, static_cast<int32_t>(program_.parameters.size())});
        program_.parameters.push_back({.name = std::string(v.name),
                                       .type = v.type,
                                       .offset = static_cast<uint32_t>(at),
                                       .bytes = static_cast<uint32_t>(v.bytes),
                                       .align = v.align,
                                       .pointer = v.pointer});
        at += v.bytes;
        if (at > most_parameter_bytes) throw Complaint{"the parameters of a kernel have at most 32 KiB", v.place};
    }
    program_.parameter_bytes = static_cast<uint32_t>(at);
}

void Frame::take_local(const Variable& v, int scope, uint64_t& end) {
    end = align_up(end, std::max(v.align, 1u));
    variables_.try_emplace({v.name, scope}, Located{&v, end, no_variable});
    end += v.bytes;
    if (end > most_local_bytes) throw Complaint{"a thread has at most 512 KiB of local memory", v.place};
}

// What a function is given and gives back: in the local memory of its frame, or in registers.
void Frame::lay_out_formals(const std::vector<Variable>& formals, std::vector<Passed>& passed) {
    for (const Variable& v : formals) {
        Passed p{.bytes = static_cast<uint32_t>(v.bytes)};
        if (v.space == Space::none) {
            if (v.type != Type::pred) p.bytes = std::max(p.bytes, 2u);
            const Slot slot = new_slot(v.type, std::string(v.name));
            used_.try_emplace({v.name, parameters}, slot);
            p.operand = slot.offset;
        } else {
            take_local(v, parameters, local_bytes_);
            p.offset = static_cast<uint32_t>(variables_.at({v.name, parameters}).offset);
        }
        passed.push_back(p);
    }
}

// Local variables lie one after the other; behind them the .param variables of calls, where those of scopes that do not
// hold one another share their places.
void Frame::lay_out_variables() {
    std::vector<const Variable*> passed;
    for (const Variable& v : entry_.variables) {
        if (v.space == Space::local)
            take_local(v, v.scope, local_bytes_);
        else if (v.space == Space::param)
            passed.push_back(&v);
        else if (const auto [at, fresh] = variables_.try_emplace({v.name, v.scope}); fresh)
            common_.place(program_, v, at->second);
    }
    std::stable_sort(passed.begin(), passed.end(), [](const Variable* a, const Variable* b) { return a->scope < b->scope; });
    std::vector<uint64_t> ends(entry_.scope_parent.size(), local_bytes_);
    size_t next = 0;
    for (size_t scope = 0; scope < ends.size(); ++scope) {  // a scope comes behind the one that holds it
        if (entry_.scope_parent[scope] >= 0) ends[scope] = ends[static_cast<size_t>(entry_.scope_parent[scope])];
        for (; next < passed.size() && static_cast<size_t>(passed[next]->scope) == scope; ++next)
            take_local(*passed[next], passed[next]->scope, ends[scope]);
        local_bytes_ = std::max(local_bytes_, ends[scope]);
    }
}

void Frame::finish() {
    Function& function = program_.functions[function_];
    function.register_bytes = register_bytes_;
    if (function_ == 0) program_.register_bytes = register_bytes_;
}

int32_t Frame::local_base(size_t bytes) {
    if (function_ == 0) return no_operand;
    Function& function = program_.functions[function_];
    int32_t& base = bytes == 4 ? function.base32 : function.base64;
    if (base == no_operand) base = new_slot(bytes == 4 ? Type::u32 : Type::u64, {}).offset;
    return base;
}

Slot Frame::new_slot(Type type, const std::string& name) {
    const size_t lane = type == Type::pred ? 0 : std::max<size_t>(size_of(type), 2);
    const size_t bytes = align_up(std::max<size_t>(lane * 32, 4), 64);
    if (register_bytes_ + bytes > most_register_bytes) throw Complaint{"this kernel uses too many registers", entry_.place};
    assert(register_bytes_ % 64 == 0);
    const Slot slot{static_cast<int32_t>(register_bytes_), type};
    register_bytes_ += static_cast<uint32_t>(bytes);
    std::vector<uint8_t>& lane_bytes = program_.functions[function_].lane_bytes;
    lane_bytes.resize(register_bytes_ / 64, 0);
    lane_bytes[static_cast<size_t>(slot.offset) / 64] = static_cast<uint8_t>(lane);
    if (!name.empty()) program_.registers.push_back({name, type, slot.offset, static_cast<int32_t>(function_)});
    return slot;
}

const Slot* Frame::register_named(std::string_view name, int scope) {
    for (int s = scope; s >= 0; s = entry_.scope_parent[static_cast<size_t>(s)]) {
        if (const auto found = used_.find({name, s}); found != used_.end()) return &found->second;
        const RegisterDeclaration* declared = nullptr;
        if (const auto exact = declarations_.find({name, s}); exact != declarations_.end())
            if (entry_.registers[exact->second].count < 0) declared = &entry_.registers[exact->second];
        size_t split = name.size();
        while (!declared && split > 1 && name.size() - split < 9 && name[split - 1] >= '0' && name[split - 1] <= '9') {
            --split;
            if (name[split] == '0' && split + 1 < name.size()) continue;
            const auto numbered = declarations_.find({name.substr(0, split), s});
            if (numbered == declarations_.end()) continue;
            int64_t number = 0;
            std::from_chars(name.data() + split, name.data() + name.size(), number);
            if (number < entry_.registers[numbered->second].count) declared = &entry_.registers[numbered->second];
        }
        if (declared) return &used_.emplace(Key{name, s}, new_slot(declared->type, std::string(name))).first->second;
    }
    if (const auto formal = used_.find({name, parameters}); formal != used_.end()) return &formal->second;
    return nullptr;
}

const Located* Frame::variable_named(std::string_view name, int scope) const {
    for (int s = scope; s >= 0; s = entry_.scope_parent[static_cast<size_t>(s)])
        if (const auto found = variables_.find({name, s}); found != variables_.end()) return &found->second;
    if (const auto found = variables_.find({name, parameters}); found != variables_.end()) return &found->second;
    if (const auto found = common_.variables.find(name); found != common_.variables.end()) return &found->second;
    return nullptr;
}

const uint32_t* Frame::label_named(std::string_view name, int scope) const {
    for (int s = scope; s >= 0; s = entry_.scope_parent[static_cast<size_t>(s)])
        if (const auto found = labels_.find({name, s}); found != labels_.end()) return &found->second;
    return nullptr;
}

const TargetList* Frame::list_named(std::string_view name, int scope) const {
    for (int s = scope; s >= 0; s = entry_.scope_parent[static_cast<size_t>(s)])
        if (const auto found = lists_.find({name, s}); found != lists_.end()) return found->second;
    return nullptr;
}

const Prototype* Frame::prototype_named(std::string_view name, int scope) const {
    for (int s = scope; s >= 0; s = entry_.scope_parent[static_cast<size_t>(s)])
        if (const auto found = prototypes_.find({name, s}); found != prototypes_.end()) return found->second;
    return nullptr;
}

int32_t Frame::constant(uint64_t bits, size_t bytes) {
    const auto [found, fresh] = common_.constants.try_emplace({bits, bytes}, 0);
    if (fresh) {
        const size_t at = program_.constants.size();
        program_.constants.resize(at + align_up(std::max<size_t>(bytes * 32, 4), 64));
        if (bytes == 0)
            std::memcpy(program_.constants.data() + at, &bits, 4);
        else
            for (size_t lane = 0; lane < 32; ++lane)
                std::memcpy(program_.constants.data() + at + lane * bytes, &bits, std::min<size_t>(bytes, 8));
        found->second = ~static_cast<int32_t>(at);
    }
    return found->second;
}

int32_t Frame::constant_lanes(const std::vector<uint32_t>& lanes) {
    const auto [found, fresh] = common_.lanes.try_emplace(lanes, 0);
    if (fresh) {
        const size_t at = program_.constants.size();
        program_.constants.resize(at + 128);
        std::memcpy(program_.constants.data() + at, lanes.data(), lanes.size() * 4);
        found->second = ~static_cast<int32_t>(at);
    }
    return found->second;
}

Slot Frame::carry() {
    if (carry_.offset == no_operand) carry_ = new_slot(Type::pred, {});
    return carry_;
}

int32_t Frame::scratch(Type type) {
    const auto [found, fresh] = scratch_.try_emplace(type);
    if (fresh) found->second = new_slot(type, {});
    return found->second.offset;
}

std::string Frame::hint_for(std::string_view name, int scope, std::vector<std::string_view> known) const {
    const size_t digits = name.find_last_not_of("0123456789") + 1;
    const std::string_view number = name.substr(std::min(digits, name.size()));
    std::deque<std::string> made;  // '%r3' for '%x3' where '%r<5>' is declared
    for (int s = scope; s >= 0; s = entry_.scope_parent[static_cast<size_t>(s)])
        for (const RegisterDeclaration& range : entry_.registers) {
            if (range.count < 0 || range.scope != s) continue;
            const std::string prefix(range.name);
            if (name.starts_with(prefix) && digits <= prefix.size()) {
                if (range.count == 0) return ": '" + prefix + "<0>' declares no register";
                const std::string last = range.count == 1 ? " alone" : " to " + prefix + std::to_string(range.count - 1);
                return ": '" + prefix + "<" + std::to_string(range.count) + ">' declares " + prefix + "0" + last;
            }
            int64_t value = 0;
            std::from_chars(number.data(), number.data() + number.size(), value);
            if (!number.empty() && number.size() < 9 && value < range.count) made.push_back(prefix + std::string(number));
        }
    known.insert(known.end(), made.begin(), made.end());
    for (const auto& [key, slot] : used_) known.push_back(key.name);
    for (const auto& [key, located] : variables_) known.push_back(key.name);
    for (const auto& [variable, located] : common_.variables) known.push_back(variable);
    for (const auto& [function, at] : common_.functions) known.push_back(function);
    for (const RegisterDeclaration& declared : entry_.registers)
        if (declared.count < 0) known.push_back(declared.name);
    std::sort(known.begin(), known.end());
    known.resize(std::min<size_t>(known.size(), 2000));
    const std::string first = std::string(name) + ".x";  // '%tid.x' for '%tid'
    if (std::find(known.begin(), known.end(), first) != known.end()) return ", did you mean '" + first + "'?";
    return did_you_mean(name, known);
}

}  // namespace lockstep::ptx
