// The learner's kernels on the disk, a file a document, so that two windows never lose work: what one of them changed is
// written under a lock, by way of a temporary file and a rename. Where another window changed the same document meanwhile,
// changes of different lines become one text; of the same lines both are kept, this window's as a document of its own.
//   $XDG_STATE_HOME/lockstep/kernels/vector_add.cu-1f3c5a7e.json; the file of all documents of earlier versions
//   (kernels.json) is taken over once.
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/gui/desk/kernel_document.h"
#include "app/gui/desk/state_keeper.h"

namespace lockstep::gui {

// How a document is written as text and read again.
struct DocumentCodec {
    std::string (*write)(const KernelDocument& document, int64_t used);
    std::optional<KernelDocument> (*read)(const std::string& text, int64_t& used);
};

// The lines that `mine` and `theirs` changed of `base` together; none: both changed the same lines.
std::optional<std::string> merged_lines(const std::string& base, const std::string& mine, const std::string& theirs);

class DocumentStore {
  public:
    struct Stored {
        std::string id;  // name of its file without the extension
        KernelDocument document;
        int64_t used = 0;  // the greater, the later it was in front
    };
    // What another window did to a document. The desk takes it over with accept(), or, where its own text is not `before`
    // any more, says so with unread(): then the next put() finds what becomes of both.
    struct News {
        std::string id;
        KernelDocument document;    // as the file has it now
        std::string before;         // this window's text that it takes the place of
        bool beside = false;        // this window did not have it
        std::string sentence = {};  // what to say; "": nothing
        std::string own_id = {};    // not empty: both are kept, and this window's goes by this id and `own_name` now
        std::string own_name = {};
    };

    DocumentStore(std::filesystem::path folder, std::filesystem::path old_file, DocumentCodec codec);

    std::vector<Stored> read_all(std::string& problem);  // the last used first; what cannot be read is set aside and said
    static std::string id_of(const KernelDocument& document);  // the same in two windows for the same file or template
    // Writes it, soon.
    void put(const std::string& id, const KernelDocument& document, int64_t used);
    void remove(const std::string& id);
    std::vector<News> take_news();
    void accept(const News& news);
    void unread(const std::string& id, const std::string& before);
    // Looks whether another window has written since, at most once in `every` seconds; what it finds becomes news.
    void look(double now, double every = 1);
    std::string problem() { return keeper_->problem(); }

  private:
    struct Known {
        uint64_t hash = 0;  // of the file as this window read or wrote it last
        std::string text;   // of the document then
        std::filesystem::file_time_type time;
    };
    struct Waiting {
        KernelDocument document;
        int64_t used = 0;
        bool removed = false;
    };
    std::filesystem::path file_of(const std::string& id) const;
    std::string write_all();
    std::string write_one(const std::string& id, Waiting wanted);
    std::string write_file_of(const std::string& id, const Waiting& wanted);
    bool resolve(const std::string& id, Waiting& wanted, const KernelDocument& theirs, News& news);
    void note(const std::string& id, const std::string& bytes, const std::string& text);
    void take_over(std::string& problem);

    const std::filesystem::path folder_, old_file_;
    const DocumentCodec codec_;
    mutable std::mutex mutex_;  // of what follows; never held while a file is written
    std::map<std::string, Known> known_;
    std::map<std::string, Waiting> waiting_;
    std::vector<News> news_;
    double looked_at_ = -1;
    std::unique_ptr<StateKeeper> keeper_;  // last: its thread uses all of the above
};

}  // namespace lockstep::gui
