// The PTX of fused kernels: bodies of bundled ones, joined where a value passes from one to the next.
#include "core/graph/fusion/fusion_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/graph/fusion/fusion_host.h"
#include "core/graph/fusion/fusion_writer.h"

namespace lockstep::graph {

namespace {
using ptx::Statement;

// What people read of a chain: one line an op. Lines of the listing are what .loc names.
constexpr size_t first_line = 2;
std::string listing_of(const Chain& chain) {
    std::string out = fmt::format("// {} .. {}: {} kernels as one, in the order in which they ran one by one.\n",
                                  one_line(chain.ops.front().label), one_line(chain.ops.back().label), chain.ops.size());
    size_t widest = 0;
    for (const FusedOp& op : chain.ops) widest = std::max(widest, one_line(op.label).size());
    for (const FusedOp& op : chain.ops)
        out += fmt::format("{:<{}}   {}   // {}, {}\n", one_line(op.label), widest, op.row->summary, op.reading->entry->name,
                           op.reading->where());
    for (const FusedSlot& slot : chain.slots)
        if (!slot.kept) out += fmt::format("// {} is never written: it stays in a register\n", one_line(slot.name));
    return out;
}

class ChainWriter {
  public:
    explicit ChainWriter(const Chain& chain)
        : chain_(chain), out_(chain.slots), held_(chain.ops.size()), passed_on_(chain.ops.size()) {
        find_passages();
        for (size_t i = 0; i < chain.ops.size(); ++i) out_.declare(body(i, {}));
        std::set<int> passed;
        for (const std::set<int>& slots : passed_on_) passed.insert(slots.begin(), slots.end());
        for (const int slot : passed)
            out_.write(fmt::format(".reg .b{} {};", 8 * std::max(2, chain.slots[size_t(slot)].bytes), value_register(slot)));
    }

    std::shared_ptr<device::GeneratedKernel> write() {
        if (chain_.entry >= 0)
            write_around(chain_.ops.size() - 1, 0);
        else if (chain_.epilogue)
            write_around(0, 1);
        else
            write_elements();
        out_.write("ret;");
        std::string name = "fused";
        for (const FusedOp& op : chain_.ops)
            if (name.size() < 60) name += fmt::format("_{}", op.row->base);
        return out_.finish(fmt::format("{}_{}", name, name_of(chain_.ops.back().row->type)), listing_of(chain_));
    }

  private:
    // Which slots' values pass from op to op: written by one for each element, read by a later one.
    void find_passages() {
        std::map<int, size_t> writer;
        for (size_t i = 0; i < chain_.ops.size(); ++i) {
            const FusedOp& op = chain_.ops[i];
            for (size_t p = 0; p < op.slots.size(); ++p) {
                const auto found = writer.find(op.slots[p]);
                if (op.reading->uses[p].reads == Reach::none || found == writer.end()) continue;
                held_[i].insert(op.slots[p]);
                passed_on_[found->second].insert(op.slots[p]);
            }
            for (size_t p = 0; p < op.slots.size(); ++p)
                if (op.reading->uses[p].writes != Reach::none) writer[op.slots[p]] = i;
        }
    }

    Body body(size_t op, std::string_view thread) const {
        std::string prefix(1, static_cast<char>('a' + op % 26));  // a, b, .. z, a1, ..
        if (op >= 26) prefix += std::to_string(op / 26);
        return {.reading = *chain_.ops[op].reading, .slots = chain_.ops[op].slots, .prefix = prefix, .thread = thread};
    }
    static std::string value_register(int slot) { return fmt::format("%v{}", slot); }
    void locate(size_t op) {
        out_.locate(first_line + op, fmt::format("{}: {}", one_line(chain_.ops[op].label), chain_.ops[op].row->summary));
    }

    // Thread i does element i of every op.
    void write_elements() {
        const FusedOp& first = chain_.ops[0];
        const auto load = [&](int reg, size_t bound) {
            const int slot = first.slots[size_t(first.reading->bound[bound])];
            out_.write(fmt::format("ld.param.u32 %i{}, [{}];", reg, out_.parameter(slot)));
        };
        out_.write(
            ".reg .b32 %i<7>; .reg .pred %beyond; mov.u32 %i1, %ctaid.x; mov.u32 %i2, %ntid.x; mov.u32 %i3, %tid.x;"
            "mad.lo.s32 %i0, %i1, %i2, %i3;");
        load(4, 0);
        if (first.reading->bound.size() > 1) {
            load(5, 1);
            out_.write("mul.lo.s32 %i4, %i4, %i5;");
        }
        out_.write("setp.ge.s32 %beyond, %i0, %i4; @%beyond bra $done;");
        write_ops(0, chain_.ops.size(), "%i0", {});
        out_.write("$done:");
    }

    // Ops of which thread `thread` does one element.
    void write_ops(size_t from, size_t to, std::string_view thread, const std::string& site) {
        for (size_t i = from; i < to; ++i) {
            locate(i);
            Body its = body(i, thread);
            its.site = site;
            const size_t begin = out_.written().size();
            its.instead = [&](size_t number, Statement& statement) {
                const MemoryUse* const access = its.reading.access_at(number);
                if (!access || access->parameter < 0 || access->index.empty()) return false;
                const int slot = its.slots[size_t(access->parameter)];
                if (access->store) return store(i, begin, *access, slot, statement);
                if (held_[i].contains(slot)) take(*access, slot, statement);
                return held_[i].contains(slot);
            };
            out_.copy(its);
        }
    }

    // Instead of a load: the value that an op before has left in its register.
    void take(const MemoryUse& access, int slot, const Statement& load) {
        const int bytes = std::max(2, access.bytes);
        const std::string move = access.width > bytes ? "cvt.u32.u16" : fmt::format("mov.b{}", 8 * bytes);
        out_.write(fmt::format("{} {}, {};", move, load.operands[0].name, value_register(slot)));
    }

    // A store by the op whose statements begin at `begin`: its value goes where a later op asks for it, and to memory where
    // it is kept.
    bool store(size_t op, size_t begin, const MemoryUse& access, int slot, Statement& statement) {
        const std::string_view value = statement.operands[1].name;
        if (passed_on_[op].contains(slot)) {
            // A product that passes from one op to the next is rounded by itself: a compiler must not join it to the next
            // op's sum.
            for (Statement& one : out_.written().subspan(begin))
                if ((one.opcode == "mul.f32" || one.opcode == "mul.f64") && one.operands[0].name == value)
                    one.opcode = one.opcode == "mul.f32" ? "mul.rn.f32" : "mul.rn.f64";
            out_.write(access.bytes == 1 ? fmt::format("and.b16 {}, {}, 255;", value_register(slot), value)
                                         : fmt::format("mov.b{} {}, {};", 8 * access.bytes, value_register(slot), value));
        }
        if (chain_.slots[size_t(slot)].kept) out_.write(std::move(statement));
        return true;
    }

    // An op whole, and the ops from `from` on wherever it stores its result, or those before it wherever it loads its entry.
    void write_around(size_t op, size_t from) {
        const bool before = chain_.entry >= 0;
        Body its = body(op, {});
        const int parameter = before ? chain_.entry : chain_.result, slot = its.slots[size_t(parameter)];
        size_t sites = 0;
        const size_t begin = out_.written().size();
        out_.write(".reg .b64 %place<2>; .reg .b32 %element;");
        its.instead = [&](size_t number, Statement& statement) {
            const MemoryUse* const access = its.reading.access_at(number);
            if (!access || access->parameter != parameter || access->store == before) return false;
            const std::string site = sites == 0 ? std::string() : fmt::format("_s{}", sites);
            ++sites;
            const ptx::Operand address = statement.operands[before ? 1 : 0];
            if (!before) store(op, begin, *access, slot, statement);
            std::string_view element = "%element";
            if (!before && !access->index.empty())
                element = out_.keep(fmt::format("%{}_{}", its.prefix, access->index.substr(1)));
            else
                find_element(address, access->bytes, out_.parameter(slot));
            if (before)
                write_ops(0, op, element, site);
            else
                write_ops(from, chain_.ops.size(), element, site);
            locate(op);
            if (before) take(*access, slot, statement);
            return true;
        };
        locate(op);
        out_.copy(its);
    }

    // The element's number is its address, less that of the first, by its size. What is no parameter begins at 0.
    void find_element(const ptx::Operand& address, int bytes, std::string_view first) {
        out_.write(fmt::format("add.s64 %place0, {}, {};", address.name, static_cast<int64_t>(address.value)));
        if (!first.empty()) out_.write(fmt::format("ld.param.u64 %place1, [{}]; sub.s64 %place0, %place0, %place1;", first));
        const int shift = bytes == 8 ? 3 : bytes == 4 ? 2 : bytes - 1;
        out_.write(fmt::format("shr.u64 %place0, %place0, {}; cvt.u32.u64 %element, %place0;", shift));
    }

    const Chain& chain_;
    KernelWriter out_;
    std::vector<std::set<int>> held_, passed_on_;  // by op: slots whose value is in its register, or has to be behind it
};

class TogetherWriter {
  public:
    explicit TogetherWriter(const Together& together)
        : all_(together), out_(together.slots), body_{*together.reading, together.parts[0].slots, "a"} {
        uint32_t begin = 0;
        for (const TogetherPart& part : together.parts) begins_.push_back(begin), begin += part.blocks;
        begins_.push_back(begin);
    }

    std::shared_ptr<device::GeneratedKernel> write() {
        out_.declare(body_);
        out_.locate(1, {});
        out_.write(".reg .b32 %block, %before; .reg .pred %lower; mov.u32 %block, %ctaid.x;");
        load_parameters(all_.parts[0], false);
        search(0, all_.parts.size());
        out_.locate(2, {});
        out_.write("$work:");
        body_.instead = [&](size_t, Statement& statement) {
            if (statement.opcode.starts_with("ld.param.")) return true;
            if (statement.operands.size() < 2 || statement.operands[1].name != "%ctaid.x") return false;
            out_.write(fmt::format("sub.u32 {}, %block, %before;", statement.operands[0].name));
            return true;
        };
        out_.copy(body_);
        out_.write("ret;");
        return out_.finish(fmt::format("fused_{}_{}", all_.parts.size(), body_.reading.entry->name), listing());
    }

  private:
    std::string listing() const {
        std::string out = fmt::format("// {} launches of {} as one: a block finds its launch by its number.\n",
                                      all_.parts.size(), body_.reading.entry->name);
        out += fmt::format("{}   // {}\n", all_.row->summary, body_.reading.where());
        for (size_t i = 0; i < all_.parts.size(); ++i)
            out += fmt::format("//   blocks {:>6} .. {:>6}   {}\n", begins_[i], begins_[i + 1] - 1,
                               one_line(all_.parts[i].label));
        return out;
    }

    // Those that differ from part to part, or those that do not.
    void load_parameters(const TogetherPart& part, bool differing) {
        const Body its{body_.reading, part.slots, body_.prefix};
        for (const Statement& statement : its.reading.entry->statements) {
            if (!statement.opcode.starts_with("ld.param.")) continue;
            const auto p = size_t(its.reading.parameter.at(statement.operands[1].name));
            const bool differs = std::any_of(all_.parts.begin(), all_.parts.end(), [&](const TogetherPart& other) {
                return other.slots[p] != all_.parts[0].slots[p];
            });
            if (differs == differing) out_.write(out_.renamed(its, statement));
        }
    }

    // A search by halves for the part, of `low` .. high - 1; then its arguments.
    void search(size_t low, size_t high) {
        if (high - low == 1) {
            out_.locate(1, one_line(all_.parts[low].label));
            out_.write(fmt::format("mov.u32 %before, {};", begins_[low]));
            load_parameters(all_.parts[low], true);
            return out_.write("bra.uni $work;");
        }
        const size_t middle = low + (high - low) / 2;
        out_.write(fmt::format("setp.ge.u32 %lower, %block, {}; @%lower bra $from_{};", begins_[middle], middle));
        search(low, middle);
        out_.write(fmt::format("$from_{}:", middle));
        search(middle, high);
    }

    const Together& all_;
    KernelWriter out_;
    Body body_;
    std::vector<uint32_t> begins_;
};
}  // namespace

std::shared_ptr<const device::GeneratedKernel> generate_chain(const Chain& chain) {
    auto kernel = ChainWriter(chain).write();
    kernel->native = native_chain(chain);
    return kernel;
}

std::shared_ptr<const device::GeneratedKernel> generate_together(const Together& together) {
    auto kernel = TogetherWriter(together).write();
    kernel->native = native_together(together);
    return kernel;
}

}  // namespace lockstep::graph
