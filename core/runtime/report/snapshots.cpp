#include "core/runtime/report/snapshots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/files.h"
#include "core/ptx/parse/printer.h"
#include "core/ptx/ptx.h"

namespace lockstep::runtime {
namespace {

namespace fs = std::filesystem;
using Packed = nlohmann::json;
using simt::Texture;

constexpr uint64_t no_page = UINT64_MAX;  // a page of zeros

std::vector<uint8_t> octets_of(std::span<const std::byte> bytes) {
    std::vector<uint8_t> all(bytes.size());
    if (!bytes.empty()) std::memcpy(all.data(), bytes.data(), bytes.size());
    return all;
}

Packed packed_from(const simt::Dim3& extents) {
    return {extents.x, extents.y, extents.z};
}
simt::Dim3 extents_from(const Packed& json) {
    return {json.at(0), json.at(1), json.at(2)};
}

// One row a field of a texture, for writing and reading.
template <class Each>
void each_field(auto& texture, const Each& each) {
    each("address", texture.address), each("pitch", texture.pitch);
    each("shape", texture.shape), each("element", texture.element), each("channels", texture.channels);
    each("width", texture.width), each("height", texture.height), each("depth", texture.depth);
    each("layers", texture.layers), each("linear", texture.linear), each("normalized", texture.normalized);
    each("normalized_float", texture.normalized_float), each("srgb", texture.srgb), each("modes", texture.modes),
        each("border", texture.border);
    each("compare", texture.compare), each("samples", texture.samples), each("surface", texture.surface),
        each("array", texture.array);
    each("levels", texture.levels), each("mip_linear", texture.mip_linear), each("level_bias", texture.level_bias);
    each("least_level", texture.least_level), each("most_level", texture.most_level);
}

Packed packed_from(const Texture& texture) {
    Packed json{{"name", texture.name}};
    each_field(texture, [&](const char* name, const auto& field) {
        using Field = std::remove_cvref_t<decltype(field)>;
        if constexpr (std::is_array_v<Field>)
            for (const auto& element : field) json[name].push_back(element);
        else
            json[name] = field;
    });
    return json;
}

Texture texture_of(const Packed& json) {
    Texture texture;
    texture.name = json.at("name");
    each_field(texture, [&](const char* name, auto& field) {
        using Field = std::remove_cvref_t<decltype(field)>;
        if constexpr (std::is_array_v<Field>)
            for (size_t k = 0; k < std::size(field); ++k) json.at(name).at(k).get_to(field[k]);
        else
            json.at(name).get_to(field);
    });
    return texture;
}

fs::path launch_file(const fs::path& folder, size_t launch) {
    return folder / fmt::format("launch-{}", launch);
}

}  // namespace

SnapshotWriter::SnapshotWriter(fs::path folder) : folder_(std::move(folder)) {
    pages_.open(folder_ / "pages", std::ios::binary);
}

uint64_t SnapshotWriter::place_of(const simt::Page& page, size_t bytes) {
    const auto [found, fresh] = places_.try_emplace(&page, written_);
    if (fresh) {
        pages_.write(reinterpret_cast<const char*>(page.data()), static_cast<std::streamsize>(bytes));
        written_ += bytes;
    }
    return found->second;
}

void SnapshotWriter::take(size_t launch, const ptx::Module& module, const std::string& kernel,
                          const simt::LaunchConfig& config, const simt::Memory& memory, std::span<const uint64_t> l2) {
    compared_ += memory.live_bytes();
    if (full_ || written_ + of_l2_ > most_written || compared_ > most_compared || !pages_) return;
    const uint64_t before = count_->load();
    simt::MemoryCheckpoint now = memory.save(last_.table ? &last_ : nullptr, count_);
    full_ = count_->load() - std::min(before, count_->load()) + written_ > most_written;
    if (full_) return;
    try {
        write(launch, module, kernel, config, now, l2);
    } catch (const std::exception&) {
        full_ = true;
        return;
    }
    last_ = std::move(now);
    // Pages that nobody holds any longer are no pages of a later snapshot.
    std::unordered_map<const simt::Page*, uint64_t> kept;
    for (const auto& [address, pages] : last_.contents)
        for (const auto& page : pages.pages())
            if (page) kept[page.get()] = places_.at(page.get());
    places_ = std::move(kept);
}

void SnapshotWriter::write(size_t launch, const ptx::Module& module, const std::string& kernel,
                           const simt::LaunchConfig& config, const simt::MemoryCheckpoint& now,
                           std::span<const uint64_t> l2) {
    const auto [number, fresh] = modules_.try_emplace(module.file, modules_.size());
    if (fresh)
        write_file(folder_ / fmt::format("module-{}.ptx", number->second),
                   module.text && !module.text->empty() ? *module.text : ptx::print(module));
    Packed json{{"module", number->second},
                {"file", module.file},
                {"kernel", kernel},
                {"grid", packed_from(config.grid)},
                {"block", packed_from(config.block)},
                {"cluster", packed_from(config.cluster)},
                {"dynamic_shared", config.dynamic_shared},
                {"independent", config.independent},
                {"parameters", Packed::binary(octets_of(config.parameters))},
                {"l2", Packed::binary(octets_of(std::as_bytes(l2)))},
                {"next", now.table->next},
                {"live", now.table->live},
                {"heap", now.table->heap},
                {"heap_limit", now.table->heap_limit},
                {"allocations", Packed::array()},
                {"textures", Packed::array()}};
    for (const Texture& texture : now.table->textures) json["textures"].push_back(packed_from(texture));
    for (const auto& [address, allocation] : now.table->allocations) {
        Packed entry{{"address", address},          {"bytes", allocation.bytes}, {"name", allocation.name},
                     {"module", allocation.module}, {"heap", allocation.heap},   {"freed", allocation.freed}};
        if (!allocation.freed) {
            const simt::Pages& contents = now.contents.at(address);
            std::vector<uint64_t> places;
            for (size_t k = 0; k < contents.pages().size(); ++k) {
                const size_t bytes = std::min(contents.page_bytes(), contents.size() - k * contents.page_bytes());
                places.push_back(contents.pages()[k] ? place_of(*contents.pages()[k], bytes) : no_page);
            }
            entry["page"] = contents.page_bytes();
            entry["pages"] = Packed::binary(octets_of(std::as_bytes(std::span(places))));
        }
        json["allocations"].push_back(std::move(entry));
    }
    of_l2_ += l2.size_bytes();
    pages_.flush();
    if (!pages_) throw Failure("the disk is full");
    const std::vector<uint8_t> packed = Packed::to_cbor(json);
    write_file(launch_file(folder_, launch), std::string(packed.begin(), packed.end()));
}

int OpenedChildren::start(simt::DeviceWork work) {
    waiting_.push_back(std::move(work));
    return 0;
}

bool OpenedChildren::wait() {
    while (!waiting_.empty() && !faulted_) {
        const simt::DeviceWork work = std::move(waiting_.front());
        waiting_.pop_front();
        run(work);
    }
    return !faulted_;
}

std::shared_ptr<simt::DeviceRuntime> OpenedChildren::again(simt::Memory& memory) const {
    auto copy = std::make_shared<OpenedChildren>(module_, memory, independent_);
    static_cast<simt::DeviceRuntime&>(*copy) = *this;
    copy->faulted_ = faulted_;
    copy->count_ = count_;
    copy->waiting_ = waiting_;
    return copy;
}

void OpenedChildren::run(const simt::DeviceWork& work) {
    if (work.kind != simt::DeviceWork::Kind::kernel) {
        std::byte* const to = memory_.write(work.to, work.bytes);
        const std::byte* const from =
            work.kind == simt::DeviceWork::Kind::copy ? memory_.read(work.from, work.bytes) : nullptr;
        if (to && from) std::memmove(to, from, work.bytes);
        if (to && work.kind == simt::DeviceWork::Kind::fill) std::memset(to, work.value, work.bytes);
        return;
    }
    const uint64_t first = ptx::address_of_function(module_->functions.size());
    const uint64_t number = (work.kernel - first) / ptx::function_bytes;
    if (work.kernel < first || number >= module_->entries.size()) return;
    const auto program = ptx::decode(*module_, std::string(module_->entries[number].name));
    if (!program) return;
    simt::LaunchConfig config{.grid = work.grid,
                              .block = work.block,
                              .dynamic_shared = work.shared,
                              .parameters = work.arguments,
                              .independent = independent_};
    config.parameters.resize(program.value()->parameter_bytes);
    OpenedChildren own(module_, memory_, independent_);
    simt::LaunchOptions options;
    options.independent = independent_;
    options.device_runtime = &own;
    const simt::LaunchResult result = simt::launch(*program.value(), config, memory_, options);
    faulted_ = result.fault.has_value() || !own.wait();
    count_ += 1 + own.count();
}

bool has_snapshot(const fs::path& folder, size_t launch) {
    std::error_code error;
    return fs::exists(launch_file(folder, launch), error);
}

Result<OpenedLaunch> open_snapshot(const fs::path& folder, size_t launch) {
    const Result<std::string> packed = read_file(launch_file(folder, launch));
    if (!packed) return Diagnostic{fmt::format("nothing was kept of launch {}", launch + 1)};
    try {
        const Packed json = Packed::from_cbor(packed.value());
        const Result<std::string> text = read_file(folder / fmt::format("module-{}.ptx", json.at("module").get<size_t>()));
        if (!text) return text.error();
        OpenedLaunch opened;
        const Result<ptx::Module> module = ptx::parse(text.value(), json.at("file"));
        if (!module) return module.error();
        opened.module = std::make_shared<const ptx::Module>(module.value());
        auto program = ptx::decode(module.value(), json.at("kernel").get<std::string>());
        if (!program) return program.error();
        opened.program = std::move(program.value());
        opened.config.grid = extents_from(json.at("grid"));
        opened.config.block = extents_from(json.at("block"));
        opened.config.cluster = extents_from(json.at("cluster"));
        opened.config.dynamic_shared = json.at("dynamic_shared");
        opened.config.independent = json.at("independent");
        const auto& parameters = json.at("parameters").get_binary();
        opened.config.parameters.resize(parameters.size());
        if (!parameters.empty()) std::memcpy(opened.config.parameters.data(), parameters.data(), parameters.size());

        const auto& l2 = json.at("l2").get_binary();
        opened.l2.resize(l2.size() / sizeof(uint64_t));
        if (!opened.l2.empty()) std::memcpy(opened.l2.data(), l2.data(), opened.l2.size() * sizeof(uint64_t));

        auto table = std::make_shared<simt::MemoryCheckpoint::Table>();
        simt::MemoryCheckpoint memory;
        table->next = json.at("next");
        table->live = json.at("live");
        table->heap = json.at("heap");
        table->heap_limit = json.at("heap_limit");
        for (const Packed& texture : json.at("textures")) table->textures.push_back(texture_of(texture));
        const simt::PageCount count = std::make_shared<std::atomic<uint64_t>>();
        std::ifstream pages(folder / "pages", std::ios::binary);
        for (const Packed& entry : json.at("allocations")) {
            simt::Allocation allocation;
            allocation.address = entry.at("address");
            allocation.bytes = entry.at("bytes");
            allocation.name = entry.at("name");
            allocation.module = entry.at("module");
            allocation.heap = entry.at("heap");
            allocation.freed = entry.at("freed");
            if (allocation.freed) {
                table->freed.push_back(allocation.address);
            } else {
                const size_t page_bytes = entry.at("page");
                const auto& places = entry.at("pages").get_binary();
                if (page_bytes == 0 || places.size() / sizeof(uint64_t) != (allocation.bytes + page_bytes - 1) / page_bytes)
                    return Diagnostic{"the snapshot is damaged", {launch_file(folder, launch).string()}};
                std::vector<std::shared_ptr<const simt::Page>> all(places.size() / sizeof(uint64_t));
                std::vector<std::byte> page(page_bytes);
                for (size_t k = 0; k < all.size(); ++k) {
                    uint64_t place = no_page;
                    std::memcpy(&place, places.data() + k * sizeof place, sizeof place);
                    if (place == no_page) continue;
                    const size_t bytes = std::min<size_t>(page_bytes, allocation.bytes - k * page_bytes);
                    pages.seekg(static_cast<std::streamoff>(place));
                    if (!pages.read(reinterpret_cast<char*>(page.data()), static_cast<std::streamsize>(bytes)))
                        return Diagnostic{"the snapshot is damaged", {(folder / "pages").string()}};
                    all[k] = std::make_shared<const simt::Page>(page.data(), bytes, count);
                }
                memory.contents.emplace(allocation.address, simt::Pages(allocation.bytes, page_bytes, std::move(all)));
            }
            table->allocations.emplace(allocation.address, std::move(allocation));
        }
        memory.table = std::move(table);
        opened.memory = simt::Memory(uint64_t{1} << 40);
        opened.memory.restore(memory);
        return opened;
    } catch (const Packed::exception&) {
        return Diagnostic{"the snapshot is damaged", {launch_file(folder, launch).string()}};
    }
}

}  // namespace lockstep::runtime
