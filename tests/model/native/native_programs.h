// What the tests of native code hold against the interpreter: memory, counts and words of a launch, and random programs.
#pragma once
#include <cstring>

#include "core/ptx/ptx.h"
#include "core/simt/native/native.h"
#include "tests/catch.h"
#include "tests/model/random_program.h"

namespace lockstep::model::test {

inline constexpr simt::NativeOptions at_once{.visits = 1, .keep_text = false, .wrong = {}};

inline std::shared_ptr<const ptx::Program> program_of(const std::string& text) {
    return ptx::decode(ptx::parse(text, "native.ptx").value(), "k").value();
}

inline std::string bytes_of(const simt::Memory& memory, const std::vector<std::pair<uint64_t, size_t>>& buffers) {
    std::string all;
    for (const auto& [address, bytes] : buffers)
        all.append(reinterpret_cast<const char*>(memory.read(address, bytes)), bytes);
    return all;
}
inline std::string words_of(const simt::LaunchResult& result) {
    std::string words =
        fmt::format("{} warp instructions, {} of threads", result.warp_instructions, result.thread_instructions);
    if (result.fault) words += "\n" + simt::render(*result.fault);
    for (const simt::Fault& warning : result.warnings) words += "\n" + simt::render(warning);
    return words;
}

// What differs between the launch by native code and by the interpreter; "": nothing.
inline std::string difference(const ptx::Program& program, const simt::LaunchConfig& config, const simt::Memory& memory,
                              const std::vector<std::pair<uint64_t, size_t>>& buffers,
                              const std::shared_ptr<simt::Native>& native, simt::LaunchOptions options = {}) {
    simt::Memory plain = memory, fast = memory;
    options.native = false;
    const simt::LaunchResult expected = simt::launch(program, config, plain, options);
    options.native = true;
    options.translated = native;
    const simt::LaunchResult got = simt::launch(program, config, fast, options);
    if (words_of(expected) != words_of(got)) return words_of(expected) + "\nby native code: " + words_of(got);
    const std::string a = bytes_of(plain, buffers), b = bytes_of(fast, buffers);
    for (size_t i = 0; i < a.size(); ++i)
        if (a[i] != b[i]) return fmt::format("byte {} is {:x}, by native code {:x}", i, a[i] & 0xff, b[i] & 0xff);
    return "";
}

inline void check_programs(uint64_t first, uint64_t count) {
    uint64_t translations = 0;
    for (uint64_t seed = first; seed < first + count; ++seed) {
        Rng rng(seed);
        const RandomProgram made(rng);
        const auto program = program_of(made.text());
        const auto native = simt::make_native(*program, at_once);
        if (!native) continue;
        const Launch it = made.launch();
        INFO("seed " << seed);
        const std::string found = difference(*program, it.config, it.memory, it.buffers, native);
        if (!found.empty()) FAIL(found << "\n" << made.text());
        translations += native->made().translations;
    }
    CHECK(translations > count);
}

}  // namespace lockstep::model::test
