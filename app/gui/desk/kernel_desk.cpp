// Asking the worker: text that stood still for a moment is compiled, and runs right after when that is cheap.
#include "app/gui/desk/kernel_desk.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/gui/session.h"
#include "app/gui/widgets/text_buffer.h"
#include "core/base/diagnostic.h"
#include "core/base/files.h"
#include "core/base/hash.h"

namespace lockstep::gui {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const LaunchSettings& s) {
    Json arguments = Json::array();
    for (const ArgumentText& a : s.arguments)
        arguments.push_back({{"parameter", a.parameter}, {"text", a.text}, {"chosen", a.chosen}, {"guess", a.guess}});
    return {{"kernel", s.kernel},
            {"grid", s.grid},
            {"block", s.block},
            {"shared", s.shared},
            {"symbols", s.symbols},
            {"seed", s.seed},
            {"gpu", s.gpu},
            {"grid_chosen", s.grid_chosen},
            {"arguments", arguments},
            {"timed", s.timed},
            {"order", static_cast<int>(s.order)},
            {"synccheck", s.synccheck},
            {"racecheck", s.racecheck},
            {"initcheck", s.initcheck},
            {"run_on_change", s.run_on_change},
            {"words", s.words},
            {"input", s.input},
            {"build", s.build},
            {"time", s.time},
            {"kernels_alone", s.kernels_alone}};
}

template <class T>
void take(const Json& from, const char* key, T& value) {
    const auto found = from.find(key);
    if (found == from.end()) return;
    if constexpr (std::is_same_v<T, bool>) {
        if (found->is_boolean()) value = found->get<bool>();
    } else if constexpr (std::is_same_v<T, std::string>) {
        if (found->is_string()) value = found->get<std::string>();
    } else {
        if (found->is_number_unsigned()) value = found->get<T>();
    }
}

LaunchSettings settings_from(const Json& from) {
    LaunchSettings s;
    if (!from.is_object()) return s;
    take(from, "kernel", s.kernel);
    take(from, "grid", s.grid);
    take(from, "block", s.block);
    take(from, "shared", s.shared);
    take(from, "symbols", s.symbols);
    take(from, "seed", s.seed);
    take(from, "gpu", s.gpu);
    take(from, "grid_chosen", s.grid_chosen);
    take(from, "timed", s.timed);
    take(from, "synccheck", s.synccheck);
    take(from, "racecheck", s.racecheck);
    take(from, "initcheck", s.initcheck);
    take(from, "run_on_change", s.run_on_change);
    take(from, "words", s.words);
    take(from, "input", s.input);
    take(from, "build", s.build);
    take(from, "time", s.time);
    take(from, "kernels_alone", s.kernels_alone);
    uint64_t order = 0;
    take(from, "order", order);
    s.order = static_cast<simt::WarpOrder>(std::min<uint64_t>(order, 3));
    if (const auto list = from.find("arguments"); list != from.end() && list->is_array())
        for (const Json& item : *list) {
            ArgumentText a;
            if (!item.is_object()) continue;
            take(item, "parameter", a.parameter);
            take(item, "text", a.text);
            take(item, "chosen", a.chosen);
            take(item, "guess", a.guess);
            s.arguments.push_back(std::move(a));
        }
    return s;
}

// A clock that runs on between frames.
double clock_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr std::string_view names_known =
    "a kernel file ends in .cu or .ptx, a host program in .host, a tensor program in .tape";

bool is_kernel_file(const std::filesystem::path& file) {
    const std::string extension = file.extension().string();
    return extension == ".cu" || extension == ".cuh" || extension == ".ptx" || extension == ".cpp" || extension == ".host" ||
           extension == ".h" || extension == ".hpp" || extension == ".tape" || scene::is_engine_program(file.string()) ||
           scene::is_parallel_program(file.string());
}

std::string same_file(const std::filesystem::path& file) {
    std::error_code error;
    const auto whole = std::filesystem::weakly_canonical(file, error);
    return error ? file.string() : whole.string();
}

}  // namespace

KernelDesk::KernelDesk(std::filesystem::path state_file) : state_file_(std::move(state_file)) {
    if (!state_file_.empty()) load();
    if (documents_.empty()) documents_.push_back(kernel_templates().front().make());
}

static KernelDocument document_from(const Json& kept) {
    KernelDocument d;
    take(kept, "path", d.path);
    take(kept, "name", d.name);
    take(kept, "text", d.text);
    take(kept, "on_disk", d.on_disk);
    if (const auto launch = kept.find("launch"); launch != kept.end()) d.launch = settings_from(*launch);
    if (const auto others = kept.find("other_launches"); others != kept.end() && others->is_object())
        for (const auto& [name, launch] : others->items()) d.other_launches[name] = settings_from(launch);
    // A file that nobody edited here follows the disk.
    if (d.path.empty() || !d.saved()) return d;
    if (const auto file = read_text(d.path, TextBuffer::largest); file.ok()) {
        d.text = file.value();
        make_utf8(d.text);
        d.on_disk = fnv1a64(d.text);
    }
    return d;
}

static std::string text_of_document(const KernelDocument& d, int64_t used) {
    Json others = Json::object();
    for (const auto& [name, launch] : d.other_launches) others[name] = to_json(launch);
    const Json all = {{"path", d.path},
                      {"name", d.name},
                      {"text", d.text},
                      {"on_disk", d.on_disk},
                      {"used", static_cast<uint64_t>(std::max<int64_t>(0, used))},
                      {"launch", to_json(d.launch)},
                      {"other_launches", others}};
    return all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

static std::optional<KernelDocument> read_document(const std::string& text, int64_t& used) {
    const Json kept = Json::parse(text, nullptr, false);
    if (!kept.is_object() || !kept.contains("text") || !kept["text"].is_string()) return std::nullopt;
    KernelDocument document = document_from(kept);
    uint64_t when = 0;
    take(kept, "used", when);
    document.used = used = static_cast<int64_t>(std::min<uint64_t>(when, INT64_MAX));
    return document;
}

void KernelDesk::load() {
    store_ = std::make_unique<DocumentStore>(state_file_.parent_path() / "kernels", state_file_,
                                             DocumentCodec{text_of_document, read_document});
    for (DocumentStore::Stored& stored : store_->read_all(note)) {
        if (documents_.size() >= most_documents) break;
        documents_.push_back(std::move(stored.document));
        documents_.back().stored_as = stored.id;
        put_[stored.id] = fnv1a64(text_of_document(documents_.back(), stored.used));
    }
}

// The documents that are not as they were given to the store last.
void KernelDesk::put_changed() {
    for (KernelDocument& d : documents_) {
        if (d.stored_as.empty()) {  // of two that began alike each has a file of its own
            const std::string id = DocumentStore::id_of(d);
            std::string free = id;
            const auto taken = [&](const KernelDocument& other) { return other.stored_as == free; };
            for (int n = 2; std::any_of(documents_.begin(), documents_.end(), taken); ++n)
                free = fmt::format("{}-{}", id, n);
            d.stored_as = free;
        }
        const uint64_t hash = fnv1a64(text_of_document(d, d.used));
        if (const auto put = put_.find(d.stored_as); put != put_.end() && put->second == hash) continue;
        put_[d.stored_as] = hash;
        store_->put(d.stored_as, d, d.used);
    }
}

// What another window did to the documents that are kept.
void KernelDesk::take_news() {
    for (const DocumentStore::News& news : store_->take_news()) {
        const auto found = std::find_if(documents_.begin(), documents_.end(),
                                        [&](const KernelDocument& d) { return d.stored_as == news.id; });
        if (!news.sentence.empty()) note = news.sentence;
        KernelDocument theirs = news.document;
        theirs.stored_as = news.id;
        if (found == documents_.end() || !news.own_id.empty()) {
            if (found != documents_.end()) {
                found->stored_as = news.own_id;
                found->name = news.own_name;
                found->path.clear();
                found->on_disk = 0;
                dirty_ = true;
            }
            store_->accept(news);
            put_[news.id] = fnv1a64(text_of_document(theirs, theirs.used));
            if (documents_.size() < most_documents) documents_.push_back(std::move(theirs));
            continue;
        }
        if (found->text != news.before) {  // typed since: the next writing finds what becomes of both
            store_->unread(news.id, news.before);
            put_.erase(news.id);
            dirty_ = true;
            continue;
        }
        store_->accept(news);
        found->text = news.document.text;
        found->on_disk = news.document.on_disk;
        put_[news.id] = fnv1a64(text_of_document(*found, found->used));
        if (found != documents_.begin()) continue;
        ++opened_;
        changed();
    }
}

void KernelDesk::changed() {
    ++version_;
    changed_at_ = now_;
    edited_at_ = clock_seconds();
    dirty_ = true;
}

std::optional<std::string> KernelDesk::open(const std::filesystem::path& file) {
    std::error_code error;
    if (std::filesystem::is_directory(file, error))
        return "'" + file.filename().string() + "' is a folder: open one of its .cu, .ptx, .host or .tape files";
    if (std::filesystem::exists(file, error) && !std::filesystem::is_regular_file(file, error))  // it might never end
        return "'" + file.filename().string() + "' is a pipe or a device: a file is needed";
    if (!is_kernel_file(file)) return std::string(names_known) + "; '" + file.filename().string() + "' does not";
    const auto text = read_text(file, TextBuffer::largest);
    if (!text.ok()) return render(text.error());
    if (text.value().find('\0') != std::string::npos) return "'" + file.filename().string() + "' is no text file";
    std::string content = text.value();
    if (const size_t bad = make_utf8(content); bad > 0)
        note = fmt::format("'{}' is not UTF-8: {} byte{} read as Latin-1, and saving writes UTF-8", file.filename().string(),
                           bad, bad == 1 ? " was" : "s were");
    const std::string path = same_file(file);
    for (size_t i = 0; i < documents_.size(); ++i)
        if (documents_[i].path == path) {
            KernelDocument& known = documents_[i];
            if (known.saved()) known.text = content, known.on_disk = fnv1a64(known.text);
            show(i);  // what was not saved stays as it was left
            return std::nullopt;
        }
    KernelDocument made;
    made.path = path;
    made.name = file.filename().string();
    made.text = std::move(content);
    made.on_disk = fnv1a64(made.text);
    made.launch.gpu = new_gpu;
    documents_.insert(documents_.begin(), std::move(made));
    show(0);
    return std::nullopt;
}

void KernelDesk::open_template(const KernelTemplate& made) {
    documents_.insert(documents_.begin(), made.make());
    documents_.front().launch.gpu = new_gpu;
    trust();  // it is ours
    show(0);
}

void KernelDesk::open_document(KernelDocument document) {
    document.stored_as.clear();
    document.on_disk = document.path.empty() ? 0 : fnv1a64(document.text);
    if (!document.path.empty())  // opened again: as it was sent
        std::erase_if(documents_, [&](const KernelDocument& d) { return d.path == document.path && d.saved(); });
    trusted_.erase(document.path + '\n' + document.name);  // whatever a program of this name was before
    documents_.insert(documents_.begin(), std::move(document));
    show(0);
}

static int64_t used_now(const std::vector<KernelDocument>& documents) {  // milliseconds, after all the others
    int64_t latest =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
    for (const KernelDocument& d : documents) latest = std::max(latest, d.used + 1);
    return latest;
}

void KernelDesk::show(size_t index) {
    if (index >= documents_.size()) return;
    std::rotate(documents_.begin(), documents_.begin() + static_cast<std::ptrdiff_t>(index),
                documents_.begin() + static_cast<std::ptrdiff_t>(index) + 1);
    // The oldest that lose nothing make room.
    while (documents_.size() > most_documents) {
        size_t last = documents_.size() - 1;
        while (last > 0 && !documents_[last].saved()) --last;
        if (last == 0) last = documents_.size() - 1;
        // One that is saved nowhere stays on the disk, for the next start.
        if (store_ && documents_[last].saved() && !documents_[last].stored_as.empty())
            store_->remove(documents_[last].stored_as), put_.erase(documents_[last].stored_as);
        documents_.erase(documents_.begin() + static_cast<std::ptrdiff_t>(last));
    }
    documents_.front().used = used_now(documents_);
    ++opened_;
    withdraw();
    edit_to_result = -1;
    changed();
    shown_from_ = version_;
    changed_at_ = edited_at_ = -1;  // no need to wait for another key
}

void KernelDesk::forget(size_t index) {
    if (index == 0 || index >= documents_.size()) return;
    if (store_ && !documents_[index].stored_as.empty()) {
        store_->remove(documents_[index].stored_as);
        put_.erase(documents_[index].stored_as);
    }
    documents_.erase(documents_.begin() + static_cast<std::ptrdiff_t>(index));
    dirty_ = true;
}

static std::filesystem::path folder_of(const KernelDocument& document) {
    return std::filesystem::path(document.path).parent_path();
}

// Whether `whole` is built with `part`: it includes it, or names it among its further sources.
static bool is_built_with(const KernelDocument& whole, const KernelDocument& part) {
    if (part.path.empty() || whole.path.empty() || folder_of(whole) != folder_of(part)) return false;
    std::istringstream words(whole.launch.build);
    for (std::string word; words >> word;)
        if (std::filesystem::path(word).filename() == part.name) return true;
    for (size_t at = whole.text.find("#include"); at != std::string::npos; at = whole.text.find("#include", at + 1)) {
        const std::string line = whole.text.substr(at, whole.text.find('\n', at) - at);
        const size_t open = line.find('"'), close = line.rfind('"');
        if (open != std::string::npos && close > open &&
            std::filesystem::path(line.substr(open + 1, close - open - 1)).filename() == part.name)
            return true;
    }
    return false;
}

std::vector<size_t> KernelDesk::tabs() const {
    std::vector<size_t> all = {0};
    for (size_t i = 1; i < documents_.size() && !document().path.empty(); ++i)
        if (!documents_[i].path.empty() && folder_of(documents_[i]) == folder_of(document())) all.push_back(i);
    std::sort(all.begin(), all.end(), [&](size_t a, size_t b) { return documents_[a].path < documents_[b].path; });
    return all;
}

void KernelDesk::next_tab(int way) {
    const std::vector<size_t> all = tabs();
    const auto here = static_cast<size_t>(std::find(all.begin(), all.end(), size_t{0}) - all.begin());
    show(all[(here + all.size() + static_cast<size_t>(way + static_cast<int>(all.size()))) % all.size()]);
}

// What is said once: whether `sentence` was said before and what it asks for is wanted all the same.
bool KernelDesk::asked_again(const std::string& sentence) {
    const bool again = question_ == sentence;
    question_ = again ? std::string() : sentence;
    return again;
}

void KernelDesk::close_tab(size_t index) {
    if (index >= documents_.size() || (index == 0 && tabs().size() < 2)) return;
    if (const KernelDocument& closing = documents_[index]; !closing.saved()) {
        const std::string sentence = fmt::format(
            "'{}' is not saved: close it once more to lose what was typed since, or save it (Ctrl S)", closing.shown_name());
        if (!asked_again(sentence)) {
            note = sentence;
            return;
        }
    }
    if (index == 0) {
        next_tab(1);
        index = 1;
    }
    forget(index);
}

size_t KernelDesk::owner() const {
    if (document().is_program() || document().is_ptx()) return 0;
    for (size_t i = 1; i < documents_.size(); ++i)
        if (!documents_[i].is_header() && is_built_with(documents_[i], document())) return i;
    return 0;
}

// What is not saved of the files that the open one is built with is written: compilers read it from the disk.
bool KernelDesk::save_parts(Session& session) {
    bool any = false;
    for (size_t i = 1; i < documents_.size(); ++i) {
        KernelDocument& part = documents_[i];
        if (part.saved() || !is_built_with(document(), part)) continue;
        try {
            write_file(part.path, part.text);
            part.on_disk = fnv1a64(part.text);
            any = dirty_ = true;
        } catch (const std::exception& error) {
            session.post(ask::Tell{error.what()});
        }
    }
    return any;
}

// What saving in a file that is not the document's own would do beside that; nothing once it is asked for again.
std::optional<std::string> KernelDesk::question_of_saving(const std::filesystem::path& file) {
    namespace fs = std::filesystem;
    const std::string path = same_file(file);
    if (path == document().path) return std::nullopt;
    std::error_code error;
    std::string sentence;
    const auto open = std::find_if(documents_.begin() + 1, documents_.end(),
                                   [&](const KernelDocument& other) { return other.path == path && !other.saved(); });
    if (open != documents_.end())
        sentence = fmt::format("'{}' is open too, and what was typed there is not saved: save again to write over both",
                               open->shown_name());
    else if (fs::is_regular_file(path, error))
        sentence = fmt::format("there is a file '{}' already: save again to write over it", file.filename().string());
    else if (const fs::path folder = fs::path(path).parent_path(); !folder.empty() && !fs::exists(folder, error))
        sentence = fmt::format("there is no folder '{}': save again to make it", folder.string());
    if (sentence.empty() || asked_again(sentence + path)) return std::nullopt;
    return sentence;
}

std::optional<std::string> KernelDesk::save(const std::filesystem::path& file) {
    if (file.empty() || file.filename().empty()) return "name the file, such as kernel.cu";
    if (!is_kernel_file(file)) return std::string(names_known);
    KernelDocument& d = document();
    // Another window, or another editor, wrote the file since: it is written over when that is asked for once more.
    if (const auto there = read_text(file, TextBuffer::largest); there.ok() && same_file(file) == d.path) {
        std::string theirs = there.value();
        make_utf8(theirs);
        const uint64_t now = fnv1a64(theirs);
        if (now != d.on_disk && theirs != d.text && now != warned_of_) {
            warned_of_ = now;
            return fmt::format("'{}' was changed by another program since it was opened: save again to write over that",
                               d.shown_name());
        }
    }
    if (auto question = question_of_saving(file)) return question;
    try {
        write_file(file, d.text);
    } catch (const std::exception& error) {
        return error.what();
    }
    const bool renamed = d.name != file.filename().string();
    d.path = same_file(file);
    for (size_t i = documents_.size(); i-- > 1;)  // the file is this document's now, and no other's
        if (documents_[i].path == d.path) forget(i);
    d.name = file.filename().string();
    d.on_disk = fnv1a64(d.text);
    dirty_ = true;
    if (renamed) changed();
    return std::nullopt;
}

void KernelDesk::set_text_anew(std::string text) {
    set_text(std::move(text));
    ++opened_;
}

bool KernelDesk::holds(const std::filesystem::path& file) const {
    return !document().path.empty() && document().path == same_file(file);
}

void KernelDesk::set_text(std::string text) {
    document().text = std::move(text);
    withdraw();
    changed();
}

void KernelDesk::choose_entry(const std::string& name) {
    KernelDocument& d = document();
    if (d.launch.kernel == name) return;
    d.other_launches[d.launch.kernel] = d.launch;
    const auto known = d.other_launches.find(name);
    LaunchSettings next;
    next.timed = d.launch.timed;
    next.order = d.launch.order;
    next.seed = d.launch.seed;
    next.gpu = d.launch.gpu;
    next.racecheck = d.launch.racecheck;
    next.initcheck = d.launch.initcheck;
    next.run_on_change = d.launch.run_on_change;
    if (known != d.other_launches.end()) next = known->second;
    next.kernel = name;
    d.launch = std::move(next);
    adopted_ = 0;
    touch();
}

void KernelDesk::run(Session& session) {
    run_asked_ = true;
    (void)session;
}

// Names of documents, as the state file does not keep them: a program that is found there, or dropped into the window, runs
// when somebody says so.
void KernelDesk::trust() {
    trusted_.insert(document().path + '\n' + document().name);
}

bool KernelDesk::trusts() const {
    return !document().is_program() || trusted_.contains(document().path + '\n' + document().name);
}

void KernelDesk::look_at(const ReportPlace& place) {
    jump = place;
    jump_asked_ = false;
}

void KernelDesk::trace_block(Session& session, uint32_t block) {
    if (jump_asked_ || !seen_result_) return;
    jump_asked_ = true;
    auto job = std::make_shared<KernelJob>();
    job->version = seen_result_->version;
    job->name = document().shown_name();
    job->path = document().path;
    job->launch = seen_result_->settings;
    job->compile = false;
    job->run = true;
    job->edited_at = -1;
    job->traced_block = block;
    session.post(ask::RunOwn{job});
}

void KernelDesk::cancel(Session& session) {
    run_asked_ = launch_changed_ = false;
    typed_at_ = -1;
    session.post(ask::Cancel{});
}

const KernelEntry* KernelDesk::entry(const Snapshot& snapshot) const {
    if (!snapshot.own.runnable || snapshot.own.runnable->version < shown_from_) return nullptr;  // or of another document
    const std::string& wanted = document().launch.kernel;
    for (const KernelEntry& entry : snapshot.own.runnable->entries)
        if (entry.name == wanted) return &entry;
    for (const KernelEntry& entry : snapshot.own.runnable->entries)
        if (entry.program) return &entry;
    return snapshot.own.runnable->entries.empty() ? nullptr : &snapshot.own.runnable->entries.front();
}

bool KernelDesk::compiling(const Snapshot& snapshot) const {
    if (document().is_header()) return false;
    return !snapshot.own.compiled || snapshot.own.compiled->version != version_;
}

bool KernelDesk::broken(const Snapshot& snapshot) const {
    const auto& compiled = snapshot.own.compiled;
    return compiled && compiled->version == version_ && !compiled->ok;
}

std::string KernelDesk::refused_launch(const Snapshot& snapshot) const {
    const auto& last = snapshot.own.result;
    if (snapshot.source != Source::own || snapshot.kernel.run || !last || !last->refused || broken(snapshot)) return {};
    const std::string& name = last->settings.kernel.empty() ? document().shown_name() : last->settings.kernel;
    if (document().is_program()) return fmt::format("{} was {}.", document().shown_name(), last->refused->message);
    return fmt::format("{} {}: {}.", name, last->cancelled ? "was cancelled" : "did not run", last->refused->message);
}

std::string KernelDesk::earlier_launch(const Snapshot& snapshot) const {
    const auto &last = snapshot.own.result, &shown = snapshot.own.run;
    if (!last || !shown || !shown->run || snapshot.kernel.run != shown->run) return {};
    const LaunchSettings &a = shown->settings, &b = last->settings;
    std::string with;
    const auto differs = [&](const std::string& name, const std::string& was, const std::string& is) {
        if (was != is) with += (with.empty() ? "" : ", ") + name + " " + was;
    };
    if (!a.kernel.empty() && !b.kernel.empty()) differs("kernel", a.kernel, b.kernel);
    differs("grid", a.grid, b.grid);
    differs("block", a.block, b.block);
    differs("shared memory", a.shared + " B", b.shared + " B");
    differs("variables", a.symbols, b.symbols);
    differs("seed", a.seed, b.seed);
    for (size_t i = 0; i < a.arguments.size() && i < b.arguments.size() && a.kernel == b.kernel; ++i)
        differs(a.arguments[i].parameter, a.arguments[i].text, b.arguments[i].text);
    return with.empty() ? "" : "with " + with;
}

std::string KernelDesk::stale_run(const Snapshot& snapshot) const {
    const auto &last = snapshot.own.result, &shown = snapshot.own.run;
    if (!shown || !shown->run || snapshot.kernel.run != shown->run) return {};
    // Neither does it while the next text is compiled: what is grey stays so until something has run.
    if (broken(snapshot) || (compiling(snapshot) && snapshot.own.compiled && !snapshot.own.compiled->ok))
        return fmt::format("'{}' does not compile as it is now: these are pictures of its last run, before that change.",
                           document().shown_name());
    if (!last || !last->refused) return {};
    const std::string with = earlier_launch(snapshot);
    return fmt::format("The last launch {}: {}. This is the run before it{}.",
                       last->cancelled ? "was cancelled" : "did not run", last->refused->message,
                       with.empty() ? "" : ", " + with);
}

bool KernelDesk::update(Session& session, const Snapshot& snapshot, double now) {
    now_ = now;
    if (changed_at_ > now) changed_at_ = now;
    if (typed_at_ > now) typed_at_ = now;
    bool soon = typed_at_ >= 0;
    if (soon && now - typed_at_ >= typing_seconds) touch();
    adopt_entries(snapshot);
    adopt_result(snapshot);
    const bool fits = adopted_ == version_;
    if (const size_t whole = owner(); run_asked_ && whole > 0) show(whole);  // a part is run with what it is a part of
    if (run_asked_ && save_parts(session)) changed();
    if (document().is_header() || owner() > 0) {
        asked_version_ = version_;
        run_asked_ = launch_changed_ = false;
        return keep(session, now) || soon;
    }
    if (asked_version_ != version_) {
        const double wait = changed_at_ < 0 ? 0 : changed_at_ + idle_seconds - now;
        if (wait > 0 && !run_asked_)
            soon = true;
        else
            post_new_text(session);
    } else if (run_asked_ ||
               (launch_changed_ && document().launch.run_on_change && trusts() && (fits || document().is_program()))) {
        post_new_launch(session, snapshot, fits);
    } else if (launch_changed_) {
        launch_changed_ = false;
        refit(snapshot);
    }
    return keep(session, now) || soon;
}

// The entries of a text that was compiled: the launch form is that of the entry on show.
void KernelDesk::adopt_entries(const Snapshot& snapshot) {
    const auto& runnable = snapshot.own.runnable;
    if (!runnable || runnable->version == adopted_ || runnable->version != version_) return;
    adopted_ = version_;
    const KernelEntry* const chosen = entry(snapshot);
    if (chosen == nullptr) return;
    if (document().launch.kernel != chosen->name && !document().launch.kernel.empty()) {
        document().other_launches[document().launch.kernel] = document().launch;
        document().launch.arguments.clear();
    }
    document().launch.kernel = chosen->name;
    refit(snapshot);
}

void KernelDesk::refit(const Snapshot& snapshot) {  // the form of the launch to the entry that was chosen
    dirty_ = true;
    if (const KernelEntry* chosen = entry(snapshot); chosen != nullptr)
        fit_launch(document().launch, *chosen, snapshot.own.runnable->source);
}

void KernelDesk::adopt_result(const Snapshot& snapshot) {
    if (!snapshot.own.result || snapshot.own.result == seen_result_) return;
    seen_result_ = snapshot.own.result;
    if (document().is_program() && seen_result_->edited_at < 0) return;  // one of its launches was opened
    const bool of_this_text = seen_result_->version == version_ && seen_result_->edited_at >= 0;
    edit_to_result = of_this_text ? clock_seconds() - seen_result_->edited_at : -1;
    if (seen_result_->version == version_) take_learned(*seen_result_);
}

// Sizes that a first run told stand in the form, as guesses still.
void KernelDesk::take_learned(const KernelResult& result) {
    LaunchSettings& launch = document().launch;
    if (result.settings.kernel != launch.kernel || result.settings.arguments.size() != launch.arguments.size()) return;
    for (size_t i = 0; i < launch.arguments.size(); ++i) {
        ArgumentText& mine = launch.arguments[i];
        const ArgumentText& told = result.settings.arguments[i];
        if (mine.chosen || told.chosen || told.guess.empty() || mine.parameter != told.parameter || mine.text == told.text)
            continue;
        if (mine.text == told.guess || mine.guess == told.guess) mine = told, dirty_ = true;
    }
}

std::shared_ptr<KernelJob> KernelDesk::make_job() const {
    auto job = std::make_shared<KernelJob>();
    job->version = version_;
    job->text = document().text;
    job->name = document().shown_name();
    job->path = document().path;
    job->launch = document().launch;
    job->edited_at = edited_at_;
    job->on_change = !run_asked_;
    job->is_program = document().is_program();
    return job;
}

void KernelDesk::post_job(Session& session, std::shared_ptr<KernelJob> job) {
    if (run_asked_ && job->run) trust();
    run_asked_ = launch_changed_ = false;
    typed_at_ = -1;
    session.post(ask::RunOwn{std::move(job)});
}

void KernelDesk::post_new_text(Session& session) {
    asked_version_ = version_;
    auto job = make_job();
    job->run = run_asked_ || (document().launch.run_on_change && trusts());
    post_job(session, std::move(job));
}

void KernelDesk::post_new_launch(Session& session, const Snapshot& snapshot, bool fits) {
    if (launch_changed_) dirty_ = true;
    auto job = make_job();
    if (snapshot.own.runnable) {  // a choice of another entry wants its form filled first
        const KernelEntry* const chosen = entry(snapshot);
        const bool other_entry = launch_changed_ && !fits;
        if (chosen != nullptr &&
            (other_entry || (chosen->program && document().launch.arguments.size() != chosen->program->parameters.size())))
            fit_launch(document().launch, *chosen, snapshot.own.runnable->source);
        job->launch = document().launch;
    }
    job->compile = snapshot.own.compiled == nullptr;
    job->run = true;
    job->edited_at = -1;
    post_job(session, std::move(job));
}

// Writes what has changed, a while after it did. Whether it is to be asked again soon.
bool KernelDesk::keep(Session& session, double now) {
    if (!store_) return false;
    store_->look(now);
    take_news();
    if (const std::string problem = store_->problem(); !problem.empty()) session.post(ask::Tell{problem});
    if (!dirty_) return false;
    if (kept_at_ < 0 || now < kept_at_) kept_at_ = now;
    const bool wait = now - kept_at_ < keep_seconds;
    if (!wait) {
        put_changed();
        dirty_ = false;
        kept_at_ = -1;
    }
    return true;
}

KernelDesk::~KernelDesk() {
    if (store_ && dirty_) put_changed();
}

}  // namespace lockstep::gui
