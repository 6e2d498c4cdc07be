// Every move of the opcode table: copies, packing and unpacking, addresses of spaces, special registers. And what holds for
// the table as a whole: which groups of rows have a test, and what the letters mean.
#include "tests/ptx/opcode_support.h"

namespace ptx_every_move_test {

using namespace opcode_test;

TEST_CASE("every plain move and every change of space gives what it means in every lane") {
    walk(
        {"move"},
        [](const Instruction& i, const Arguments& x) -> std::optional<Expected> {
            if (i.name == "mov") return Expected{.bits = x[0]};
            uint64_t window = 0;
            if (i.has(".shared") || i.has(".shared::cta") || i.has(".shared::cluster")) window = shared_window;
            if (i.has(".local")) window = local_window;
            if (i.has(".param") || i.has(".param::entry")) window = param_window;
            return Expected{.bits = i.has(".to") ? x[0] - window : x[0] + window};
        },
        20);
}

TEST_CASE("parts are packed lowest first, and unpacked again") {
    struct Shape {
        const char *type, *whole, *part;
        size_t whole_bytes, part_bytes, parts;
    };
    const Shape shapes[] = {{"b16", "%h", "%c", 2, 1, 2},   {"b32", "%r", "%h", 4, 2, 2},  {"b32", "%r", "%c", 4, 1, 4},
                            {"b64", "%rd", "%r", 8, 4, 2},  {"b64", "%rd", "%h", 8, 2, 4}, {"b128", "%rq", "%rd", 16, 8, 2},
                            {"b128", "%rq", "%r", 16, 4, 4}};
    Rng rng(5);
    for (const Shape& s : shapes) {
        std::string in, out;
        for (size_t k = 0; k < s.parts; ++k) {
            in += (k ? ", " : "") + std::string(s.part) + std::to_string(k + 1);
            out += (k ? ", " : "") + (k == 1 && s.parts > 2 ? "_" : s.part + std::to_string(k + 11));
        }
        const std::string whole = std::string(s.whole) + "9", move = "mov." + std::string(s.type) + " ";
        const auto program = program_of({move + whole + ", {" + in + "}", move + "{" + out + "}, " + whole});
        INFO(move << in);
        REQUIRE(program);
        for (const Simd simd : {Simd::portable, Simd::avx2, Simd::avx512}) {
            const auto copy = opcodes(simd);
            if (copy.empty()) continue;
            Machine machine(*program.value());
            const size_t stored = std::max<size_t>(s.part_bytes, 2);
            std::vector<std::array<uint64_t, 32>> values(s.parts);
            for (size_t k = 0; k < s.parts; ++k)
                for (size_t l = 0; l < 32; ++l) {
                    values[k][l] = rng.next();
                    std::memcpy(machine.at(s.part + std::to_string(k + 1)) + l * stored, &values[k][l], stored);
                }
            for (size_t n = 0; n < 2; ++n) {
                const DecodedInstruction& i = program.value()->instructions[n];
                machine.run(i, copy[place_of(i).row].forms[place_of(i).form]);
            }
            for (size_t k = 0; k < s.parts; ++k)
                for (size_t l = 0; l < 32; ++l) {
                    uint64_t in_whole = 0, unpacked = 0;
                    std::memcpy(&in_whole, machine.at(whole) + l * s.whole_bytes + k * s.part_bytes, s.part_bytes);
                    CHECK(in_whole == low(values[k][l], s.part_bytes));
                    if (k == 1 && s.parts > 2) continue;
                    std::memcpy(&unpacked, machine.at(s.part + std::to_string(k + 11)) + l * stored, stored);
                    CHECK(unpacked == low(values[k][l], s.part_bytes));
                }
        }
    }
}

TEST_CASE("bytes are unpacked also into the register that held them together, and packed into one of their own") {
    const auto program = program_of({"mov.b16 {%h9, %h8}, %h9", "mov.b16 %h8, {%h9, %h8}"});
    REQUIRE(program);
    for (const Simd simd : {Simd::portable, Simd::avx2, Simd::avx512}) {
        const auto copy = opcodes(simd);
        if (copy.empty()) continue;
        Machine machine(*program.value());
        Rng rng(7);
        std::array<uint16_t, 32> given{}, again{};
        for (uint16_t& value : given) value = static_cast<uint16_t>(rng.next());
        std::memcpy(machine.at("%h9"), given.data(), sizeof given);
        for (const DecodedInstruction& i : {program.value()->instructions[0], program.value()->instructions[1]})
            machine.run(i, copy[place_of(i).row].forms[place_of(i).form]);
        std::memcpy(again.data(), machine.at("%h8"), sizeof again);
        CHECK(again == given);
    }
}

TEST_CASE("every special register of the ISA can be read") {
    std::vector<std::string> statements;
    const auto words = [&](std::initializer_list<const char*> names, const char* move) {
        for (const char* name : names) statements.push_back(std::string(move) + ", " + name);
    };
    words({"%tid.x",
           "%tid.y",
           "%tid.z",
           "%tid.w",
           "%ntid.x",
           "%ntid.y",
           "%ntid.z",
           "%ctaid.x",
           "%ctaid.y",
           "%ctaid.z",
           "%nctaid.x",
           "%nctaid.y",
           "%nctaid.z",
           "%laneid",
           "%warpid",
           "%nwarpid",
           "%smid",
           "%nsmid",
           "%lanemask_eq",
           "%lanemask_le",
           "%lanemask_lt",
           "%lanemask_ge",
           "%lanemask_gt",
           "%clock",
           "%clock_hi",
           "%globaltimer_lo",
           "%globaltimer_hi",
           "%pm0",
           "%pm7",
           "%envreg0",
           "%envreg9",
           "%envreg31",
           "%clusterid.x",
           "%clusterid.y",
           "%clusterid.z",
           "%nclusterid.x",
           "%nclusterid.y",
           "%nclusterid.z",
           "%cluster_ctaid.x",
           "%cluster_ctaid.y",
           "%cluster_ctaid.z",
           "%cluster_nctaid.x",
           "%cluster_nctaid.y",
           "%cluster_nctaid.z",
           "%cluster_ctarank",
           "%cluster_nctarank",
           "%reserved_smem_offset_begin",
           "%reserved_smem_offset_end",
           "%reserved_smem_offset_cap",
           "%reserved_smem_offset_0",
           "%reserved_smem_offset_1",
           "%total_smem_size",
           "%aggr_smem_size",
           "%dynamic_smem_size",
           "%gridid"},
          "mov.u32 %r1");
    words({"%clock64", "%globaltimer", "%pm0_64", "%pm7_64", "%gridid", "%current_graph_exec"}, "mov.u64 %rd1");
    words({"%is_explicit_cluster"}, "mov.pred %p1");
    const auto program = program_of(statements);
    if (!program) FAIL(program.error().message << " " << program.error().source_line);
    for (size_t n = 0; n < statements.size(); ++n) {
        INFO(statements[n]);
        CHECK(program.value()->instructions[n].kind == Kind::special_register);
    }
    for (const char* wrong : {"mov.u32 %r1, %envreg32", "mov.u32 %r1, %pm8", "mov.u64 %rd1, %pm8_64",
                              "mov.u32 %r1, %envreg01", "mov.u32 %r1, %envreg", "mov.u32 %r1, %tid"}) {
        INFO(wrong);
        CHECK(!program_of({wrong}));
    }
}

TEST_CASE("every group of lane-wise rows is walked by one of these tests") {
    const std::set<std::string_view> walked = {"integer",
                                               "integer multiply",
                                               "integer divide",
                                               "logic and shift",
                                               "bit field",
                                               "video",
                                               "compare and select",
                                               "move",
                                               "convert",
                                               "float",
                                               "double",
                                               "half",
                                               "special function"};
    for (const Opcode& row : opcodes()) {
        if (row.kind != Kind::lane_wise && row.kind != Kind::lane_wise_many) continue;
        INFO(row.name << " of the group " << row.group);
        CHECK(walked.contains(row.group));
    }
}

TEST_CASE("the letters of the timeline mean one group each") {
    std::map<char, std::string_view> groups;
    for (const Opcode& row : opcodes()) {
        INFO(row.name);
        CHECK(groups.try_emplace(row.letter, row.group).first->second == row.group);
        CHECK(!row.summary.empty());
        CHECK(row.forms.size() > 0);
    }
}

}  // namespace ptx_every_move_test
