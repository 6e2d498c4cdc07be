// Reading all, writing one under the lock, and what becomes of a document that two windows changed.
#include "app/gui/desk/document_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/diagnostic.h"
#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/system/lock.h"

namespace lockstep::gui {

namespace {

namespace fs = std::filesystem;
constexpr size_t most_document = size_t{16} << 20, most_old = size_t{64} << 20;
constexpr std::string_view stored_ending = ".json";

std::vector<std::string_view> lines_with_ends(const std::string& text) {
    std::vector<std::string_view> lines;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
        lines.push_back(std::string_view(text).substr(at, end - at));
        at = end;
    }
    return lines;
}

struct ChangedLines {  // of the base: [begin, end) became `to`
    size_t begin = 0, end = 0;
    std::vector<std::string_view> to;
    bool none() const { return begin == end && to.empty(); }
};

ChangedLines change_between(const std::vector<std::string_view>& base, const std::vector<std::string_view>& text) {
    size_t front = 0, back = 0;
    while (front < base.size() && front < text.size() && base[front] == text[front]) ++front;
    while (back < base.size() - front && back < text.size() - front &&
           base[base.size() - 1 - back] == text[text.size() - 1 - back])
        ++back;
    return {front,
            base.size() - back,
            {text.begin() + static_cast<std::ptrdiff_t>(front), text.end() - static_cast<std::ptrdiff_t>(back)}};
}

std::string plain_name(const std::string& name) {  // of a file, in every system
    std::string plain;
    for (const char c : name.substr(0, 60)) {
        const bool good =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
        plain += good ? c : '_';
    }
    return plain.empty() ? "untitled" : plain;
}

}  // namespace

std::optional<std::string> merged_lines(const std::string& base, const std::string& mine, const std::string& theirs) {
    const auto base_lines = lines_with_ends(base), my_lines = lines_with_ends(mine), their_lines = lines_with_ends(theirs);
    ChangedLines first = change_between(base_lines, my_lines), second = change_between(base_lines, their_lines);
    if (first.none()) return theirs;
    if (second.none() || mine == theirs) return mine;
    if (second.begin < first.begin) std::swap(first, second);
    // Lines that touch were changed with each other in mind, may be: both are kept.
    if (second.begin <= first.end) return std::nullopt;
    std::string all;
    for (size_t i = 0; i < first.begin; ++i) all += base_lines[i];
    for (const std::string_view line : first.to) all += line;
    for (size_t i = first.end; i < second.begin; ++i) all += base_lines[i];
    for (const std::string_view line : second.to) all += line;
    for (size_t i = second.end; i < base_lines.size(); ++i) all += base_lines[i];
    return all;
}

DocumentStore::DocumentStore(fs::path folder, fs::path old_file, DocumentCodec codec)
    : folder_(std::move(folder)),
      old_file_(std::move(old_file)),
      codec_(codec),
      keeper_(std::make_unique<StateKeeper>("your kernels")) {}

fs::path DocumentStore::file_of(const std::string& id) const {
    return folder_ / (id + std::string(stored_ending));
}

std::string DocumentStore::id_of(const KernelDocument& document) {
    const std::string what = document.path.empty() ? document.name + '\n' + document.text : document.path;
    return fmt::format("{}-{:08x}", plain_name(document.shown_name()), static_cast<uint32_t>(fnv1a64(what)));
}

void DocumentStore::note(const std::string& id, const std::string& bytes, const std::string& text) {
    std::error_code error;
    Known known{fnv1a64(bytes), text, fs::last_write_time(file_of(id), error)};
    const std::lock_guard lock(mutex_);
    known_[id] = std::move(known);
}

// What earlier versions kept in one file becomes a file a document; the one file stays, under another name.
void DocumentStore::take_over(std::string& problem) {
    std::error_code error;
    if (old_file_.empty() || !fs::exists(old_file_, error)) return;
    const auto text = read_file(old_file_, most_old);
    if (!text.ok()) return;
    const nlohmann::ordered_json all = nlohmann::ordered_json::parse(text.value(), nullptr, false);
    const auto list = all.is_object() ? all.find("documents") : all.end();
    if (!all.is_object() || list == all.end() || !list->is_array()) {
        // Not ours any more: it is kept for its owner rather than written over.
        fs::rename(old_file_, fs::path(old_file_) += ".unreadable", error);
        problem = fmt::format("'{}' is no list of kernels and was set aside as '{}.unreadable'",
                              old_file_.filename().string(), old_file_.filename().string());
        return;
    }
    int64_t used = static_cast<int64_t>(list->size());
    for (const auto& kept : *list) {
        int64_t ignored = 0;
        const auto document = kept.is_object() ? codec_.read(kept.dump(), ignored) : std::nullopt;
        if (!document) continue;
        const std::string id = id_of(*document);
        if (!fs::exists(file_of(id), error)) write_file(file_of(id), codec_.write(*document, used));
        --used;
    }
    fs::rename(old_file_, fs::path(old_file_) += ".old", error);
}

std::vector<DocumentStore::Stored> DocumentStore::read_all(std::string& problem) {
    const system::FileLock lock(folder_ / ".lock");
    std::vector<Stored> all;
    std::error_code error;
    try {
        take_over(problem);
    } catch (const Failure& failure) {
        problem = failure.diagnostic.message;
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
        if (entry.path().extension() != stored_ending) continue;
        const auto text = read_file(entry.path(), most_document);
        if (!text.ok()) continue;
        int64_t used = 0;
        auto document = codec_.read(text.value(), used);
        const std::string id = entry.path().stem().string();
        if (!document) {
            fs::rename(entry.path(), fs::path(entry.path()) += ".unreadable", error);
            problem = fmt::format("the kept kernel '{}' cannot be read and was set aside as '{}.unreadable'",
                                  entry.path().filename().string(), entry.path().filename().string());
            continue;
        }
        note(id, text.value(), document->text);
        all.push_back({id, std::move(*document), used});
    }
    std::stable_sort(all.begin(), all.end(), [](const Stored& a, const Stored& b) { return a.used > b.used; });
    return all;
}

void DocumentStore::put(const std::string& id, const KernelDocument& document, int64_t used) {
    {
        const std::lock_guard lock(mutex_);
        waiting_[id] = {document, used, false};
    }
    keeper_->keep([this] { return write_all(); });
}

void DocumentStore::remove(const std::string& id) {
    {
        const std::lock_guard lock(mutex_);
        waiting_[id] = {{}, 0, true};
    }
    keeper_->keep([this] { return write_all(); });
}

std::string DocumentStore::write_all() {
    const system::FileLock between_windows(folder_ / ".lock");
    std::string why;
    for (;;) {
        std::pair<std::string, Waiting> next;
        {
            const std::lock_guard lock(mutex_);
            if (waiting_.empty()) return why;
            next = *waiting_.begin();
            waiting_.erase(waiting_.begin());
        }
        try {
            if (const std::string problem = write_one(next.first, std::move(next.second)); !problem.empty()) why = problem;
        } catch (const Failure& failure) {
            why = failure.diagnostic.message;
        }
    }
}

std::string DocumentStore::write_file_of(const std::string& id, const Waiting& wanted) {
    const std::string bytes = codec_.write(wanted.document, wanted.used);
    write_file(file_of(id), bytes);
    note(id, bytes, wanted.document.text);
    return {};
}

std::string DocumentStore::write_one(const std::string& id, Waiting wanted) {
    std::error_code error;
    if (wanted.removed) {
        fs::remove(file_of(id), error);
        const std::lock_guard lock(mutex_);
        known_.erase(id);
        return error ? error.message() : "";
    }
    if (!fs::exists(file_of(id), error)) return write_file_of(id, wanted);
    const auto bytes = read_file(file_of(id), most_document);
    if (!bytes.ok()) return render(bytes.error());
    uint64_t hash = 0;
    {
        const std::lock_guard lock(mutex_);
        if (const auto known = known_.find(id); known != known_.end()) hash = known->second.hash;
    }
    int64_t used = 0;
    const auto theirs = fnv1a64(bytes.value()) == hash ? std::nullopt : codec_.read(bytes.value(), used);
    News news;
    const bool mine_goes_there = !theirs || resolve(id, wanted, *theirs, news);
    if (mine_goes_there) {
        const std::string why = write_file_of(id, wanted);
        if (!news.id.empty()) news.document = wanted.document;
        if (!why.empty()) return why;
    }
    const std::lock_guard lock(mutex_);
    if (!news.id.empty()) news_.push_back(std::move(news));
    return {};
}

// Another window wrote the document since this one read it. True: `wanted`, which has both changes now, goes into the file.
// False: this window's has become a document of its own.
bool DocumentStore::resolve(const std::string& id, Waiting& wanted, const KernelDocument& theirs, News& news) {
    std::optional<std::string> base;
    {
        const std::lock_guard lock(mutex_);
        if (const auto known = known_.find(id); known != known_.end()) base = known->second.text;
    }
    const std::string mine = wanted.document.text;
    if (theirs.text == mine) return true;
    if (base && theirs.text == *base) return true;
    const auto together = base ? merged_lines(*base, mine, theirs.text) : std::nullopt;
    if (together) {
        news = {id, {}, mine, false};
        if (mine != *base)
            news.sentence =
                fmt::format("'{}' was changed in another window too: it has both changes now", wanted.document.shown_name());
        wanted.document.text = *together;
        wanted.document.on_disk = theirs.on_disk;
        return true;
    }
    // Both are kept.
    const fs::path name = wanted.document.shown_name();
    Waiting own = wanted;
    own.document.path.clear();
    own.document.on_disk = 0;
    std::error_code error;
    std::string own_id;
    for (int number = 2; number < 1000; ++number) {
        own.document.name = fmt::format("{} ({}){}", name.stem().string(), number, name.extension().string());
        own_id = plain_name(own.document.name) + id.substr(std::min(id.size(), id.rfind('-')));
        if (!fs::exists(file_of(own_id), error)) break;
    }
    write_file_of(own_id, own);
    note(id, read_file(file_of(id), most_document).value(), theirs.text);
    news = {id,
            theirs,
            mine,
            false,
            fmt::format("the same lines of '{}' were changed in another window: yours are kept as '{}'",
                        wanted.document.shown_name(), own.document.name),
            own_id,
            own.document.name};
    return false;
}

std::vector<DocumentStore::News> DocumentStore::take_news() {
    const std::lock_guard lock(mutex_);
    return std::exchange(news_, {});
}

void DocumentStore::accept(const News& news) {
    std::error_code error;
    if (const auto bytes = read_file(file_of(news.id), most_document); bytes.ok()) {
        int64_t used = 0;
        if (const auto read = codec_.read(bytes.value(), used); read && read->text == news.document.text)
            note(news.id, bytes.value(), read->text);
    }
}

void DocumentStore::unread(const std::string& id, const std::string& before) {
    const std::lock_guard lock(mutex_);
    known_[id] = {0, before, {}};
}

void DocumentStore::look(double now, double every) {
    if (looked_at_ >= 0 && now >= looked_at_ && now - looked_at_ < every) return;
    looked_at_ = now;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
        if (entry.path().extension() != stored_ending) continue;
        const std::string id = entry.path().stem().string();
        const auto time = entry.last_write_time(error);
        Known known;
        bool is_known = false;
        {
            const std::lock_guard lock(mutex_);
            if (waiting_.contains(id)) continue;  // writing it finds the same
            if (const auto found = known_.find(id); found != known_.end()) known = found->second, is_known = true;
        }
        if (is_known && known.time == time) continue;
        const auto bytes = read_file(entry.path(), most_document);
        if (!bytes.ok() || (is_known && fnv1a64(bytes.value()) == known.hash)) continue;
        int64_t used = 0;
        auto document = codec_.read(bytes.value(), used);
        if (!document) continue;
        if (is_known && document->text == known.text) {  // its launch was changed, or it was in front there
            note(id, bytes.value(), document->text);
            continue;
        }
        const std::lock_guard lock(mutex_);
        news_.push_back({id, std::move(*document), known.text, !is_known});
    }
}

}  // namespace lockstep::gui
