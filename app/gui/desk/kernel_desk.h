// The learner's desk: the documents (the open one first), what is asked of the worker when text or settings change, and
// keeping all of it across restarts (document_store.h). Owned by the frame's thread; saving happens on a thread of its own.
//   a document's file: {"path","name","text","on_disk","used","launch":{...},"other_launches":{...}}
#pragma once
#include <filesystem>
#include <set>

#include "app/gui/desk/document_store.h"
#include "app/gui/desk/kernel_document.h"

namespace lockstep::gui {

class Session;
struct Snapshot;

// What a key asked for; the editor takes it.
enum class DeskWish : uint8_t { none, open, save, save_as, find, next_report, previous_report };

struct ReportPlace {  // where a report says to look
    uint32_t block = 0, warp = 0;
    int32_t lane = -1, line = 0;
    uint32_t pc = 0;
    bool last = true;  // the warp's last visit to the place, else its first
};

class KernelDesk {
  public:
    static constexpr size_t most_documents = 16;
    static constexpr double idle_seconds = 0.15;   // after the last key, before the text is compiled
    static constexpr double typing_seconds = 0.6;  // after the last key in a field of the launch, before it runs
    static constexpr double keep_seconds = 0.7;    // after the last change, before it is written to the state file

    // The documents lie in the folder "kernels" beside that file, which earlier versions kept; empty: nothing is read or
    // kept.
    explicit KernelDesk(std::filesystem::path state_file);

    ~KernelDesk();  // what is not kept yet is written
    KernelDesk(const KernelDesk&) = delete;
    KernelDesk& operator=(const KernelDesk&) = delete;

    KernelDocument& document() { return documents_.front(); }
    const KernelDocument& document() const { return documents_.front(); }
    const std::vector<KernelDocument>& documents() const { return documents_; }
    uint64_t version() const { return version_; }  // of the open document's text
    uint64_t opened() const { return opened_; }    // counts openings: the editor takes the text over anew

    // Opens a file, or brings its document to the front when it is on the desk. A sentence when that is not possible.
    std::optional<std::string> open(const std::filesystem::path& file);
    std::string new_gpu = "v100";  // of a kernel that has no launch of its own yet: the one that was chosen last
    std::string note;              // what is odd about the file that was opened, to be said once
    // The documents of one program, as tabs: the open one and those of its folder, by name. Indices of documents().
    std::vector<size_t> tabs() const;
    void next_tab(int way);
    // Its file stays, and the open one makes room for its neighbour; of an unsaved text, only when it is asked for twice.
    void close_tab(size_t index);
    // Which document is run when the open one, a header or a further source, is only a part of it; 0: it runs itself.
    size_t owner() const;
    void open_template(const KernelTemplate& made);
    void open_document(KernelDocument document);  // a new one to the front; its file, if any, holds it
    void show(size_t index);                      // document `index` to the front
    void forget(size_t index);                    // takes it off the desk; its file stays
    // And it is that file's document from now on. What it would write over or make is asked first, as a sentence.
    std::optional<std::string> save(const std::filesystem::path& file);
    void withdraw() { question_.clear(); }  // whatever was asked: it is asked anew

    bool holds(const std::filesystem::path& file) const;      // the open document is that file's
    void set_text(std::string text);                          // by the editor
    void set_text_anew(std::string text);                     // by anybody else: the editor takes it over
    void touch() { launch_changed_ = true, typed_at_ = -1; }  // the launch settings changed
    void touch_soon() { typed_at_ = now_, typing = true; }    // one is being typed: they changed once its field is left
    bool due() const { return launch_changed_ || typed_at_ >= 0; }
    bool typing = false;  // in a field of the launch, since it got the keyboard: what runs now is half-typed, may be
    void changed_kind() { changed(), changed_at_ = -1; }  // a program became its kernels alone, or the other way
    void choose_entry(const std::string& name);
    void run(Session& session);  // now, as somebody asked for it
    // A whole program's host part may do what the person may do, so that it runs by itself only once she has run it.
    void trust();
    bool trusts() const;
    void cancel(Session& session);
    void look_at(const ReportPlace& place);              // as soon as the warp's history is there
    void trace_block(Session& session, uint32_t block);  // the run again, with that block's SM in full

    // Once a frame: adopts what the worker found, asks for what is due. True: please draw again soon.
    bool update(Session& session, const Snapshot& snapshot, double now);
    // That the settings name, of the last good text of the open document; null while there is none.
    const KernelEntry* entry(const Snapshot& snapshot) const;
    bool compiling(const Snapshot& snapshot) const;
    // "The last launch was refused (...): this is the run with block 3."; empty: the run on show is the last launch.
    std::string stale_run(const Snapshot& snapshot) const;
    // "transpose did not run: the grid needs ..."; empty: its launch was not refused, or an earlier run is on show.
    std::string refused_launch(const Snapshot& snapshot) const;
    std::string earlier_launch(const Snapshot& snapshot) const;  // "with block 3": what the run on show was launched with
    bool broken(const Snapshot& snapshot) const;                 // the text as it is now does not compile
    std::optional<ReportPlace> jump;
    DeskWish wish = DeskWish::none;
    int32_t go_to_line = 0, go_to_column = 0;     // from 1: the editor jumps there, then sets them to 0
    bool shows_heat = true, shows_values = true;  // beside the lines: what they cost; what they hold at the play head
    bool swaps_runs = false;                      // beside each other: A is the newer one
    double edit_to_result = -1;                   // seconds from the last change to the result on show

  private:
    void load();
    void put_changed();
    void take_news();
    void changed();
    void adopt_entries(const Snapshot& snapshot);
    void adopt_result(const Snapshot& snapshot);
    void take_learned(const KernelResult& result);
    void refit(const Snapshot& snapshot);
    std::shared_ptr<KernelJob> make_job() const;
    void post_job(Session& session, std::shared_ptr<KernelJob> job);
    void post_new_text(Session& session);
    void post_new_launch(Session& session, const Snapshot& snapshot, bool fits);
    bool keep(Session& session, double now);
    bool save_parts(Session& session);
    bool asked_again(const std::string& sentence);
    std::optional<std::string> question_of_saving(const std::filesystem::path& file);

    std::filesystem::path state_file_;
    std::vector<KernelDocument> documents_;
    uint64_t version_ = 1, opened_ = 1, asked_version_ = 0, adopted_ = 0;
    uint64_t shown_from_ = 0;  // the version that the open document came to the front with
    std::string question_;     // that was asked last and stands unanswered
    std::shared_ptr<const KernelResult> seen_result_;
    bool launch_changed_ = false, run_asked_ = false, jump_asked_ = false;
    double changed_at_ = -1, edited_at_ = -1, kept_at_ = -1, typed_at_ = -1, now_ = 0;
    bool dirty_ = false;
    std::set<std::string> trusted_;
    uint64_t warned_of_ = 0;               // hash of what another program wrote into the open document's file
    std::map<std::string, uint64_t> put_;  // hashes of what was given to the store, by document
    std::unique_ptr<DocumentStore> store_;
};

}  // namespace lockstep::gui
